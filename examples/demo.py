"""Optimised oblique trees and small forests of them beside the usual ones, on bundled data.

The same as ``spinney demo --picture demo.png``: a table for a classification and for a regression
task, and a picture of the upper splits of one digits tree and of the forests as they grow.
"""

import sys

from spinney.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", "--picture", "demo.png"]))
