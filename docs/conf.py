"""Sphinx configuration."""

from __future__ import annotations

from batchlas_py._version import __version__

project = "batchlas_py"
author = "The batchlas_py authors"
copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"batchlas_py {release}"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
