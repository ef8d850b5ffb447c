// The list of conversations: pages by key, a search that waits for the typing to pause, and news from other tabs.
import { useCallback, useEffect, useRef, useState } from "react";
import { listConversations, type ConversationSummary } from "../wire/api";
import { listen } from "../wire/tabs";

const LIST_PAGE = 40;
const TYPING_PAUSE_MS = 180;

export function useConversations(version: number) {
  const [search, setSearch] = useState("");
  const [found, setFound] = useState<ConversationSummary[]>([]);
  const [before, setBefore] = useState<string | null>(null);
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  const [heard, setHeard] = useState(0);
  const shown = useRef(0);
  shown.current = found.length;

  useEffect(() => listen(null, () => setHeard((count) => count + 1)), []);

  useEffect(() => {
    const leaving = new AbortController();
    const load = () => {
      // As many as are shown, so that news do not shorten the list under the reader's eyes.
      const limit = Math.min(200, Math.max(LIST_PAGE, search ? 0 : shown.current));
      listConversations({ search, limit }, leaving.signal).then(
        (page) => {
          setFound(page.conversations);
          setBefore(page.before ?? null);
          setState("ready");
        },
        () => !leaving.signal.aborted && setState("failed"),
      );
    };
    const timer = setTimeout(load, search ? TYPING_PAUSE_MS : 0);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [search, version, heard]);

  const more = useCallback(async () => {
    if (!before) return;
    setBefore(null); // Asked for: not again until the answer is here.
    try {
      const page = await listConversations({ search, before, limit: LIST_PAGE });
      setFound((had) => {
        const known = new Set(had.map((one) => one.id));
        return [...had, ...page.conversations.filter((one) => !known.has(one.id))];
      });
      setBefore(page.before ?? null);
    } catch {
      setBefore(before);
    }
  }, [before, search]);

  return { search, setSearch, found, state, hasMore: before !== null, more };
}
