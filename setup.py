"""Build the kernel where Cython and a C compiler are there; elsewhere the same file runs interpreted."""

from setuptools import Extension, setup

KERNEL = "src/refsim/metrics/_automaton.py"

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    # No -march=native: wheels move to other machines. -g0: debug symbols made the extension five times as large.
    kernel = Extension("refsim.metrics._automaton", [KERNEL], extra_compile_args=["-O3", "-g0"])
    switches = dict.fromkeys(("boundscheck", "wraparound", "initializedcheck"), False)
    directives = {"language_level": 3, "cdivision": True, **switches}
    extensions = cythonize(kernel, build_dir="build/cython", compiler_directives=directives)
    # An install without a C compiler succeeds. Set here, because cythonize returns copies that forget it.
    for extension in extensions:
        extension.optional = True

setup(ext_modules=extensions)
