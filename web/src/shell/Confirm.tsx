// "Are you sure?", as a dialog that keeps the focus and gives it back.
import { useEffect, useRef, useState } from "react";

type Question = { title: string; text: string; action: string };
type Asked = Question & { answer: (yes: boolean) => void };

let show: ((asked: Asked) => void) | null = null;

/** Asks, and answers what the person chose. */
export function confirmed(question: Question): Promise<boolean> {
  return new Promise((answer) => (show ? show({ ...question, answer }) : answer(false)));
}

/** Where the question appears; once in the page. */
export function Confirm() {
  const [asked, setAsked] = useState<Asked | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    show = setAsked;
    return () => {
      show = null;
    };
  }, []);
  useEffect(() => {
    if (asked) dialog.current?.showModal();
  }, [asked]);
  const close = (yes: boolean) => {
    dialog.current?.close();
    asked?.answer(yes);
    setAsked(null);
  };
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby="confirm-title"
      aria-describedby="confirm-text"
      onCancel={(event) => {
        event.preventDefault();
        close(false);
      }}
    >
      <h2 id="confirm-title">{asked?.title}</h2>
      <p id="confirm-text">{asked?.text}</p>
      <div className="buttons">
        <button type="button" className="button" onClick={() => close(false)}>
          Cancel
        </button>
        <button type="button" className="button danger" onClick={() => close(true)}>
          {asked?.action}
        </button>
      </div>
    </dialog>
  );
}
