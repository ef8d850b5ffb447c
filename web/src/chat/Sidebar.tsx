// The conversations: find one, name it, delete it, begin another.
import { useEffect, useRef, useState } from "react";
import { confirmed } from "../shell/Confirm";
import { focusIfLost } from "../shell/focus";
import { Icon } from "../shell/Icon";
import { addressOf } from "../shell/location";
import { Link } from "../shell/Link";
import { deleteConversation, renameConversation, type ConversationSummary } from "../wire/api";
import { announce } from "../wire/tabs";
import { useConversations } from "./useConversations";
import { ago } from "./ago";

type Props = {
  current: string | null;
  version: number;
  onNew: () => void;
  onChanged: () => void;
  onDeleted: (id: string) => void;
  onGo: () => void;
};

function Rename({ title, save, cancel }: { title: string; save: (title: string) => void; cancel: () => void }) {
  const [value, setValue] = useState(title);
  return (
    <form
      className="rename"
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim()) save(value.trim());
        else cancel();
      }}
    >
      <input
        aria-label="Name of the conversation"
        value={value}
        maxLength={200}
        autoFocus
        onFocus={(event) => event.target.select()}
        onBlur={cancel}
        onChange={(event) => setValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.preventDefault();
            cancel();
          }
        }}
      />
    </form>
  );
}

type EntryProps = { one: ConversationSummary; current: boolean; onChanged: () => void; onDeleted: () => void; onGo: () => void };

function Entry({ one, current, onChanged, onDeleted, onGo }: EntryProps) {
  const [naming, setNaming] = useState(false);
  const entry = useRef<HTMLLIElement>(null);
  const named = useRef(false);
  useEffect(() => {
    if (named.current && !naming) focusIfLost(entry.current?.querySelector("a"));
    named.current = naming;
  }, [naming]);
  const title = one.title || "New chat";
  const finish = (work: Promise<unknown>, then: () => void) =>
    void work.then(() => {
      announce(one.id);
      then();
    }, onChanged);
  if (naming) {
    return (
      <li className="entry">
        <Rename
          title={one.title ?? ""}
          cancel={() => setNaming(false)}
          save={(name) => {
            setNaming(false);
            finish(renameConversation(one.id, name), onChanged);
          }}
        />
      </li>
    );
  }
  return (
    <li className="entry" ref={entry}>
      <Link to={addressOf("chat", { chat: one.id })} current={current} onGo={onGo}>
        <span className="entry-title" title={title}>
          {title}
        </span>
        <time dateTime={one.updatedAt}>{ago(one.updatedAt)}</time>
      </Link>
      <span className="entry-actions">
        <button type="button" className="icon-button small" aria-label={`Rename ${title}`} title="Rename" onClick={() => setNaming(true)}>
          <Icon name="edit" size={15} />
        </button>
        <button
          type="button"
          className="icon-button small"
          aria-label={`Delete ${title}`}
          title="Delete"
          onClick={() =>
            void confirmed({ title: "Delete the conversation?", text: `“${title}” will be deleted with everything in it.`, action: "Delete" }).then(
              (yes) => yes && finish(deleteConversation(one.id), onDeleted),
            )
          }
        >
          <Icon name="trash" size={15} />
        </button>
      </span>
    </li>
  );
}

export function Sidebar({ current, version, onNew, onChanged, onDeleted, onGo }: Props) {
  const { search, setSearch, found, state, hasMore, more } = useConversations(version);
  const last = useRef<HTMLLIElement>(null);
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const node = last.current;
    if (!node) return;
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && void more());
    observer.observe(node);
    return () => observer.disconnect();
  }, [more, hasMore]);

  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.altKey || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener("keydown", find);
    return () => window.removeEventListener("keydown", find);
  }, []);

  return (
    <>
      <button type="button" className="button new-chat" onClick={onNew}>
        <Icon name="plus" /> New chat
      </button>
      <div className="search" role="search">
        <Icon name="search" size={16} />
        <input
          ref={field}
          type="search"
          aria-label="Search conversations"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && search) {
              event.preventDefault();
              setSearch("");
            }
          }}
        />
        <kbd aria-hidden="true">Ctrl K</kbd>
      </div>
      <nav className="entries" aria-label="Conversations">
        <ul>
          {found.map((one) => (
            <Entry
              key={one.id}
              one={one}
              current={one.id === current}
              onChanged={onChanged}
              onDeleted={() => onDeleted(one.id)}
              onGo={onGo}
            />
          ))}
          {hasMore && <li ref={last} className="entries-more" aria-hidden="true" />}
        </ul>
        {found.length === 0 && state !== "loading" && (
          <p className="entries-none">
            {state === "failed" ? "The list could not be loaded." : search ? "Nothing found." : "No conversations yet."}
          </p>
        )}
      </nav>
    </>
  );
}
