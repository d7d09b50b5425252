"""The errors refsim raises.

    RefsimError
    ├── InputError (also ValueError)       a text, a row, a file or an argument that cannot be scored
    │   └── CompiledSetError               a saved compiled set that is damaged, or not one
    ├── SignatureError (also ValueError)   two numbers that must not be compared
    └── MissingExtra (also ImportError)    a part of refsim that needs another package

Every message names the place, what was found, what was expected, and the next step. Messages about
the API index as Python does (`references[1][0]`); messages about files count lines from 1.
"""


class RefsimError(Exception):
    """The root of every error that refsim raises on purpose."""


class InputError(RefsimError, ValueError):
    """Something given to refsim cannot be used; the message says where it is and what to do."""


class CompiledSetError(InputError):
    """A compiled set on disk is damaged, of another version, or not a compiled set at all."""


class SignatureError(RefsimError, ValueError):
    """Two results were made differently and must not be compared as numbers."""


class MissingExtra(RefsimError, ImportError):
    """A feature needs a package that is not installed; the message names the extra that brings it."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f'{feature} needs {package}; pip install "refsim[{extra}]"')
