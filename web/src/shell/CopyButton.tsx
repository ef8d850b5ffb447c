// A button that copies a text, and says that it did.
import { useEffect, useState } from "react";
import { Icon } from "./Icon";

const SAID_MS = 1600;

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without a secure context there is no clipboard: the old way, through a selection.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const now = said === "copied" ? "Copied" : said === "failed" ? "Could not be copied" : label;
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label={now}
      title={now}
      onClick={() => void copy(text).then((done) => setSaid(done ? "copied" : "failed"))}
    >
      <Icon name={said === "copied" ? "check" : said === "failed" ? "warning" : "copy"} size={15} />
    </button>
  );
}
