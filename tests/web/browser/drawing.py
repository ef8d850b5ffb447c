"""What React draws, counted from outside: messages, parts, blocks of Markdown, and the place where one writes."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

COUNT: Final = """
(() => {
  // React tells its developer tools of every commit, in the built pages too; so we are the developer tools.
  const WORKED = 1; // The flag of a component that was called, rather than passed over.
  window.drawn = {};
  const names = ({ message, token, part, onEditLast }) => {
    if (message) return `message ${message.id}`;
    if (token) return `block ${token.raw.trim()}`;
    if (part) return `part ${part.type}`;
    return onEditLast ? 'composer' : null;
  };
  const count = (fiber) => {
    const name = fiber.memoizedProps && typeof fiber.type !== 'string' ? names(fiber.memoizedProps) : null;
    if (name && fiber.flags & WORKED) window.drawn[name] = (window.drawn[name] ?? 0) + 1;
  };
  const walk = (fiber) => {
    count(fiber);
    if (fiber.alternate && fiber.alternate.child === fiber.child) return; // Nothing below it was looked at.
    for (let child = fiber.child; child; child = child.sibling) walk(child);
  };
  window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: (_, root) => walk(root.current),
    onCommitFiberUnmount() {},
    onPostCommitFiberRoot() {},
  };
})();
"""


def count_drawings(page: Page) -> None:
    """Count from the next loading of the page on."""
    page.add_init_script(COUNT)


def drawn(page: Page, *, anew: bool = False) -> dict[str, int]:
    """How often each was drawn, since the beginning or since it was last begun anew."""
    counted: dict[str, int] = page.evaluate(
        "(anew) => { const had = window.drawn; if (anew) window.drawn = {}; return had; }", anew
    )
    return counted
