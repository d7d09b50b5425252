"""Build the kernel where Cython and a C compiler are there; elsewhere the same file runs interpreted."""

from setuptools import Extension, setup

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    # optional: an install without a C compiler succeeds. No -march=native: wheels move to other machines.
    kernel = Extension(
        "refsim.metrics._automaton", ["src/refsim/metrics/_automaton.py"], extra_compile_args=["-O3"], optional=True
    )
    directives = {
        "language_level": 3,
        "boundscheck": False,
        "wraparound": False,
        "initializedcheck": False,
        "cdivision": True,
    }
    extensions = cythonize(kernel, build_dir="build/cython", compiler_directives=directives)

setup(ext_modules=extensions)
