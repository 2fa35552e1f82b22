"""What Sphinx needs to know; `python docs/site` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

from spinney import __version__

sys.path.insert(0, str(Path(__file__).parent))  # public_names.py is an extension, too

project = "spinney"
author = "The spinney developers"
project_copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "public_names"]
root_doc = "docs/index"
exclude_patterns: list[str] = []
nitpicky = True

# Headings get anchors as code hosts make them, so that `page.md#a-heading` works in both.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]

# Types are told in the docstrings, in words.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
add_module_names = False

html_theme = "furo"
html_title = f"spinney {release}"
html_baseurl = ""
html_copy_source = False
html_show_sphinx = False
# Summaries of found pages are fetched, which browsers refuse to pages opened from a disk.
html_show_search_summary = False
templates_path = ["templates"]
# Pages keep the places they have in the repository; the way in is a page that leads to docs/.
html_additional_pages = {"index": "redirect.html"}
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"
pygments_dark_style = "monokai"
