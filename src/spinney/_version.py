"""The version of the library, where every layer can read it."""

__version__ = "0.2.0.dev0"
