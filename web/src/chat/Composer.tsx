// Where one writes: text, files by button, paste or drop, and what sends or stops.
import type { FileUIPart } from "ai";
import { memo, useCallback, useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from "react";
import { Attachment } from "../parts/Attachment";
import { Icon } from "../shell/Icon";
import type { Draft } from "./useConversation";

/** A message goes through one request: larger files belong into a store of their own. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
const FILES_MAX = 16;

function read(file: File): Promise<FileUIPart> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () =>
      resolve({
        type: "file",
        mediaType: file.type || "application/octet-stream",
        filename: file.name,
        url: String(reader.result),
      });
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}

type Props = {
  busy: boolean;
  stopping: boolean;
  onSend: (draft: Draft) => void;
  onStop: () => void;
  onEditLast: () => void;
};

/** The browser does it itself, without laying out the page for each letter. */
const SIZES_ITSELF = CSS.supports("field-sizing", "content");

export const Composer = memo(function Composer({ busy, stopping, onSend, onStop, onEditLast }: Props) {
  const [text, setText] = useState("");
  const [files, setFiles] = useState<FileUIPart[]>([]);
  const [problem, setProblem] = useState("");
  const [over, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const ready = !busy && (text.trim() !== "" || files.length > 0);

  useEffect(() => {
    // On a phone the keyboard would cover what one came to read.
    if (window.matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);

  // The field is as high as what is in it; the style sheet says how high it may become.
  useEffect(() => {
    const node = field.current;
    if (!node || SIZES_ITSELF) return;
    node.style.height = "auto";
    node.style.height = `${node.scrollHeight}px`;
  }, [text]);

  const add = useCallback(async (list: Iterable<File>) => {
    setProblem("");
    const picked = [...list];
    const large = picked.find((file) => file.size > FILE_BYTES_MAX);
    if (large) return setProblem(`${large.name} is larger than ${FILE_BYTES_MAX / 1024 / 1024} MB.`);
    try {
      const parts = await Promise.all(picked.map(read));
      setFiles((had) => {
        const all = [...had, ...parts];
        if (all.length > FILES_MAX) setProblem(`At most ${FILES_MAX} files go with a message.`);
        return all.slice(0, FILES_MAX);
      });
    } catch (why) {
      setProblem(why instanceof Error ? why.message : String(why));
    }
  }, []);

  const send = () => {
    if (!ready) return;
    onSend({ text: text.trim(), files });
    setText("");
    setFiles([]);
    setProblem("");
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" && text === "" && !busy) {
      event.preventDefault();
      onEditLast();
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void add(event.clipboardData.files);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void add(event.dataTransfer.files);
  };

  return (
    <form
      className={over ? "composer over" : "composer"}
      aria-label="New message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      {files.length > 0 && (
        <div className="attachments">
          {files.map((file, index) => (
            <Attachment key={index} file={file} onRemove={() => setFiles((had) => had.filter((_, at) => at !== index))} />
          ))}
        </div>
      )}
      {problem && (
        <p className="composer-problem" role="alert">
          {problem}
        </p>
      )}
      <textarea
        ref={field}
        id="message"
        rows={1}
        value={text}
        placeholder="Write a message"
        aria-label="Message"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="composer-foot">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            void add(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <button type="button" className="icon-button" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()}>
          <Icon name="attach" />
        </button>
        <span className="composer-hint">
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> makes a new line
        </span>
        {busy ? (
          <button type="button" className="send" aria-label="Stop" title="Stop (Esc)" disabled={stopping} onClick={onStop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" className="send" aria-label="Send" title="Send (Enter)" disabled={!ready}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
});
