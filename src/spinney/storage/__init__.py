"""Files of the library: a JSON header and numeric arrays in one checked container.

Models and checkpoints are stored through this package. It knows bytes, arrays and JSON, and nothing
of trees.
"""

from spinney.storage.container import read_container, write_container
from spinney.storage.errors import DamagedFileError

__all__ = ["DamagedFileError", "read_container", "write_container"]
