"""The settings of Sphinx, which `make docs` builds the site with.

The pages are read in the repository as well, so what only Sphinx needs is added here: its navigation is made of the
tables of links on the index.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

import rejoinder

project = "Rejoinder"
author = "The Rejoinder authors"
project_copyright = author
version = release = rejoinder.__version__

extensions = ["myst_parser"]
# The source is the whole repository: pages link to examples, to the changelog and to files of deploy.
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "examples/README.md",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [
    ".*",
    "bench",
    "build",
    "dist",
    "src",
    "tests",
    "web",
    "**/node_modules",
    "**/__pycache__",
]
nitpicky = True

myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "Rejoinder"
html_copy_source = False
html_show_sphinx = False


def navigation(index: str) -> str:
    """A list of pages for Sphinx under each heading of the index, of the pages that its table links to."""
    found: list[str] = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        caption, _, text = section.partition("\n")
        links = re.findall(r"^\| \[[^]]+\]\(([^)#:]+)\.md\)", text, re.MULTILINE)
        pages = ["/" + posixpath.normpath(f"docs/{link}") for link in links]
        if pages:
            head = ["```{toctree}", ":hidden:", f":caption: {caption}", ""]
            found.append("\n".join([*head, *pages, "```", ""]))
    return "\n".join(found)


def add_navigation(app: Any, docname: str, source: list[str]) -> None:
    """Called by Sphinx with each page before it is read."""
    if docname == root_doc:
        source[0] += "\n" + navigation(source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
