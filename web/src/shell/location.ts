// Where we are: the page by its path, and what it shows by its query. No router: there are three pages.
import { useSyncExternalStore } from "react";

const MOVED = "rejoinder:moved";

const ROOT = new URL("./", document.baseURI).pathname;

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(MOVED, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(MOVED, listener);
  };
}

export type Page = "chat" | "inspect" | "analytics";

/** The page and the query of the address bar. */
export function useLocation(): { page: Page; query: URLSearchParams } {
  const href = useSyncExternalStore(subscribe, () => window.location.href);
  const url = new URL(href);
  const last = url.pathname.replace(/\/$/, "").split("/").pop();
  return { page: last === "inspect" || last === "analytics" ? last : "chat", query: url.searchParams };
}

/** The address of a page with a query; what is empty is left out. */
export function addressOf(page: Page, query: { [name: string]: string | null | undefined } = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return `${ROOT}${page === "chat" ? "" : page}${text ? `?${text}` : ""}`;
}

/** Goes there without loading the page anew. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) window.history.replaceState(null, "", href);
  else window.history.pushState(null, "", href);
  window.dispatchEvent(new Event(MOVED));
}
