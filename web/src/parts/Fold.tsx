// Something that folds. It opens and closes by itself while nobody has touched it.
import { useState, type ReactNode } from "react";
import { Icon, type IconName } from "../shell/Icon";

type Props = {
  icon: IconName;
  title: ReactNode;
  note?: ReactNode;
  tone?: "plain" | "busy" | "good" | "bad" | "asks";
  open: boolean;
  children: ReactNode;
};

export function Fold({ icon, title, note, tone = "plain", open, children }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const shown = chosen ?? open;
  return (
    <section className={`fold tone-${tone}`} data-open={shown}>
      <button type="button" className="fold-head" aria-expanded={shown} onClick={() => setChosen(!shown)}>
        <Icon name={icon} size={16} />
        <span className="fold-title">{title}</span>
        {note && <span className="fold-note">{note}</span>}
        <Icon name="down" size={16} />
      </button>
      {shown && <div className="fold-body">{children}</div>}
    </section>
  );
}
