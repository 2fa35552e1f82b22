"""``python -m spinney``: the command line without a script on the path."""

import sys

from spinney.cli import main

if __name__ == "__main__":
    sys.exit(main())
