"""The version, in one place; imports nothing, so that `refsim --version` answers at once."""

__version__ = "0.1.0"
