"""The documentation site: `sphinx-build -W --keep-going docs build/site` builds it, a warning is an error."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

import registry_pages  # noqa: E402

import gymnasium_gsp  # noqa: E402

registry_pages.write(DOCS / "generated")

project = "gymnasium_gsp"
copyright = "the gymnasium_gsp maintainers"
version = release = gymnasium_gsp.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

exclude_patterns = ["generated/parts"]

# Pages are Markdown as the code host shows it; docstrings are Google style, single backticks are code.
myst_heading_anchors = 3
default_role = "literal"
smartquotes = False
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Departures"]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"gymnasium_gsp {version}"
html_copy_source = False
html_show_sphinx = False
