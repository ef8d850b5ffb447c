// A long list of rows of one height: only those in sight are in the page. Arrow keys move the choice.
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

const ROW_PX = 30;
const BEYOND = 8;

type Props<T> = {
  label: string;
  rows: T[];
  keyOf: (row: T) => number;
  chosen: number | null;
  related: ReadonlySet<number>;
  onChoose: (key: number) => void;
  children: (row: T) => ReactNode;
};

export function Rows<T>({ label, rows, keyOf, chosen, related, onChoose, children }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);

  useEffect(() => {
    const node = box.current!;
    const observer = new ResizeObserver(() => setHeight(node.clientHeight));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);

  // The choice, or else the first relative of what was chosen elsewhere, is brought into sight.
  const seen = rows.findIndex((row) => keyOf(row) === chosen || related.has(keyOf(row)));
  const wanted = chosen !== null && rows.some((row) => keyOf(row) === chosen) ? rows.findIndex((row) => keyOf(row) === chosen) : seen;
  useEffect(() => {
    const node = box.current!;
    if (wanted < 0) return;
    const place = wanted * ROW_PX;
    if (place < node.scrollTop || place + ROW_PX > node.scrollTop + node.clientHeight) {
      node.scrollTop = Math.max(0, place - node.clientHeight / 3);
    }
  }, [wanted]);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -rows.length, End: rows.length }[event.key];
    if (step === undefined || rows.length === 0) return;
    event.preventDefault();
    const at = Math.min(rows.length - 1, Math.max(0, (wanted < 0 ? -1 : wanted) + step));
    onChoose(keyOf(rows[at]!));
  };

  const begin = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const end = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + BEYOND);
  const active = wanted >= begin && wanted < end && chosen !== null ? `${label}-${keyOf(rows[wanted]!)}` : undefined;
  return (
    <div
      ref={box}
      className="rows-box"
      role="listbox"
      aria-label={label}
      aria-activedescendant={active}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div className="rows-before" style={{ height: begin * ROW_PX }} role="presentation" />
      {rows.slice(begin, end).map((row) => {
        const key = keyOf(row);
        return (
          <div
            key={key}
            id={`${label}-${key}`}
            role="option"
            aria-selected={key === chosen}
            className={key === chosen ? "row chosen" : related.has(key) ? "row related" : "row"}
            onClick={() => onChoose(key)}
          >
            {children(row)}
          </div>
        );
      })}
      <div className="rows-after" style={{ height: (rows.length - end) * ROW_PX }} role="presentation" />
    </div>
  );
}
