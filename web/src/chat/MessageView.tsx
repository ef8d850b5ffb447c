// One message, and what one can do with it.
import type { UIMessage } from "ai";
import { memo, useEffect, useRef, useState } from "react";
import { Attachment } from "../parts/Attachment";
import { Parts } from "../parts/Parts";
import { confirmed } from "../shell/Confirm";
import { CopyButton } from "../shell/CopyButton";
import { focusIfLost } from "../shell/focus";
import { Icon } from "../shell/Icon";
import { addressOf } from "../shell/location";
import { Link } from "../shell/Link";
import type { Place } from "../wire/api";
import type { Does } from "./useConversation";

type Props = {
  message: UIMessage;
  place: Place | undefined;
  conversationId: string;
  live: boolean;
  newest: boolean;
  busy: boolean;
  editing: boolean;
  setEditing: (id: string | null) => void;
  does: Does;
};

const textOf = (message: UIMessage) =>
  message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n\n");

/** The branch that was stepped to, and which way: its own arrow gets the focus when it is there. */
let stepped: { to: string; by: number } | null = null;

function Branches({ place, busy, branch }: { place: Place; busy: boolean; branch: (id: string) => void }) {
  const siblings = place.siblings ?? [];
  const at = siblings.indexOf(place.id);
  const group = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (stepped?.to !== place.id) return;
    const arrows = [...(group.current?.querySelectorAll("button") ?? [])];
    focusIfLost((stepped.by < 0 ? arrows : arrows.reverse()).find((arrow) => !arrow.disabled));
    stepped = null;
  }, [place.id]);
  if (siblings.length < 2 || at < 0) return null;
  const step = (by: number) => () => {
    stepped = { to: siblings[at + by]!, by };
    branch(stepped.to);
  };
  return (
    <span className="branches" role="group" aria-label="Branches" ref={group}>
      <button type="button" className="icon-button small" aria-label="Previous branch" disabled={busy || at === 0} onClick={step(-1)}>
        <Icon name="left" size={15} />
      </button>
      <span>
        {at + 1} / {siblings.length}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label="Next branch"
        disabled={busy || at === siblings.length - 1}
        onClick={step(1)}
      >
        <Icon name="right" size={15} />
      </button>
    </span>
  );
}

function Editor({ text, save, cancel }: { text: string; save: (text: string) => void; cancel: () => void }) {
  const [value, setValue] = useState(text);
  const submit = () => value.trim() && save(value.trim());
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        aria-label="Edit message"
        value={value}
        autoFocus
        rows={Math.min(12, value.split("\n").length + 1)}
        onFocus={(event) => event.target.setSelectionRange(value.length, value.length)}
        onChange={(event) => setValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.preventDefault();
            cancel();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            submit();
          }
        }}
      />
      <div className="buttons">
        <button type="button" className="button small" onClick={cancel}>
          Cancel
        </button>
        <button type="submit" className="button primary small" disabled={!value.trim()}>
          Send
        </button>
      </div>
    </form>
  );
}

function Foot(props: Props & { text: string }) {
  const { message, place, conversationId, busy, text } = props;
  const user = message.role === "user";
  return (
    <footer className="message-foot">
      {place && <Branches place={place} busy={busy} branch={props.does.branch} />}
      {text && <CopyButton text={text} label="Copy message" />}
      {user ? (
        <button type="button" className="icon-button small" aria-label="Edit" title="Edit" disabled={busy} onClick={() => props.setEditing(message.id)}>
          <Icon name="edit" size={15} />
        </button>
      ) : (
        <button
          type="button"
          className="icon-button small"
          aria-label="Answer again"
          title="Answer again"
          disabled={busy}
          onClick={() => props.does.regenerate(message.id)}
        >
          <Icon name="retry" size={15} />
        </button>
      )}
      <button
        type="button"
        className="icon-button small"
        aria-label="Delete from here"
        title="Delete from here"
        disabled={busy || !place}
        onClick={() =>
          void confirmed({
            title: "Delete from here?",
            text: "This message and everything after it will be deleted.",
            action: "Delete",
          }).then((yes) => yes && props.does.remove(message.id))
        }
      >
        <Icon name="trash" size={15} />
      </button>
      {!user && place?.turnId && (
        <Link className="icon-button small" to={addressOf("inspect", { chat: conversationId, turn: place.turnId })} label="Inspect this answer">
          <Icon name="inspect" size={15} />
        </Link>
      )}
    </footer>
  );
}

/** How an answer ended, if not by itself: a page that is loaded again says so, too. */
const ENDINGS: { [status: string]: string } = {
  cancelled: "Stopped.",
  failed: "This answer failed before it was complete.",
  interrupted: "This answer was interrupted: the server that wrote it went away.",
};

export const MessageView = memo(function MessageView(props: Props) {
  const { message, place, live, newest, editing, setEditing } = props;
  const text = textOf(message);
  const ending = ENDINGS[place?.status ?? ""];
  if (message.role === "user") {
    const files = message.parts.filter((part) => part.type === "file");
    return (
      <article className="message of-user" aria-label="You" data-message={message.id}>
        {files.length > 0 && (
          <div className="attachments">
            {files.map((file, index) => (
              <Attachment key={index} file={file} />
            ))}
          </div>
        )}
        {editing ? (
          <Editor
            text={text}
            cancel={() => setEditing(null)}
            save={(value) => {
              setEditing(null);
              props.does.edit(message.id, value);
            }}
          />
        ) : (
          text && <div className="bubble">{text}</div>
        )}
        {!editing && <Foot {...props} text={text} />}
      </article>
    );
  }
  return (
    <article className={`message of-${message.role}`} aria-label="Answer" aria-busy={live} data-message={message.id}>
      <Parts message={message} live={live} newest={newest} />
      {live && <span className="caret" aria-hidden="true" />}
      {!live && ending && <p className={`ending ${place?.status}`}>{ending}</p>}
      {!live && <Foot {...props} text={text} />}
    </article>
  );
});
