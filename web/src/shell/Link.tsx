// A link to another of our pages: it moves without loading, unless the person wants a new tab.
import type { MouseEvent, ReactNode } from "react";
import { go } from "./location";

type Props = { to: string; label?: string; className?: string; current?: boolean; onGo?: () => void; children: ReactNode };

export function Link({ to, label, className, current, onGo, children }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
    onGo?.();
  };
  return (
    <a href={to} className={className} aria-label={label} title={label} aria-current={current ? "page" : undefined} onClick={follow}>
      {children}
    </a>
  );
}
