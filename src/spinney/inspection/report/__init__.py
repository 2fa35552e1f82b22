"""A fitted model as one HTML file that a person can walk through, and as a few lines in a notebook.

The Python side gathers names, numbers and arrays; the page in `assets` draws them. The page needs
no network, no library and no server. Nothing here learns or predicts: what the model says of rows
is asked from the model.
"""

from spinney.inspection.report.compact import compact_summary
from spinney.inspection.report.write import write_report

__all__ = ["compact_summary", "write_report"]
