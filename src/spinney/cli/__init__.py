"""The command line: one file a subcommand, over the public API of the library.

Results go to standard output and talk to standard error, so that pipes carry results only.
"""

from spinney.cli.entry import main

__all__ = ["main"]
