"""`make docs`: write the tables of the pages anew and build the site, in build/site.

Every warning is an error: a link that leads nowhere, a page that nobody can find, a heading that jumps.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from scripts import docs
from scripts.docs_source import ROOT

SITE: Final = ROOT / "build" / "site"

FIRST: Final = """<!doctype html>
<meta charset="utf-8">
<title>Rejoinder</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">Rejoinder's documentation</a>
"""
"""The address of the site itself: pages keep the places that they have in the repository."""


def build(folder: Path) -> int:
    """Build the site; the exit code is that of Sphinx."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--nitpicky"]
    places = ["-b", "html", "-c", str(ROOT / "docs"), "-d", str(folder / ".doctrees"), str(ROOT), str(folder)]
    code = subprocess.run([*command, *places], cwd=ROOT, check=False).returncode
    (folder / "index.html").write_text(FIRST, "utf-8")
    return code


class Page(HTMLParser):
    """Where a page leads to, and which places in it can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take links and names."""
        for name, value in attrs:
            if name in ("href", "src") and tag != "base" and value is not None:
                self.links.append(value)
            elif name == "id" and value is not None:
                self.places.add(value)


def dead_links(folder: Path) -> Iterator[str]:
    """Each link of the site that leads to a file or a place that is not there."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.exists()
            if not there or (target in pages and unquote(parts.fragment) not in pages[target].places):
                yield f"{path.relative_to(folder.resolve())}: {link}"


def main() -> None:
    """Write, build, check; leave with 1 if a link is dead or Sphinx has warned."""
    docs.main()
    code = build(SITE)
    dead = list(dead_links(SITE))
    for link in dead:
        print(f"leads nowhere: {link}", file=sys.stderr)
    if code or dead:
        sys.exit(1)
    print(f"built: {(SITE / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
