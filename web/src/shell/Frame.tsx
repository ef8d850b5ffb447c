// What all pages have around them: a side that becomes a drawer on a phone, the way to the other pages, the theme.
import { useEffect, useRef, type ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import { addressOf, type Page } from "./location";
import { Link } from "./Link";
import { Mark } from "./Mark";
import { useTheme, type Theme } from "./theme";

const PAGES: { page: Page; name: string; icon: IconName }[] = [
  { page: "chat", name: "Chat", icon: "chat" },
  { page: "inspect", name: "Inspector", icon: "inspect" },
  { page: "analytics", name: "Analytics", icon: "chart" },
];

const THEMES: { theme: Theme; name: string; icon: IconName }[] = [
  { theme: "light", name: "Light", icon: "sun" },
  { theme: "dark", name: "Dark", icon: "moon" },
  { theme: "system", name: "As the system", icon: "system" },
];

type Props = { page: Page; side: ReactNode; open: boolean; setOpen: (open: boolean) => void; children: ReactNode };

export function Frame({ page, side, open, setOpen, children }: Props) {
  const [theme, setTheme] = useTheme();
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => event.key === "Escape" && setOpen(false);
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [open, setOpen]);

  return (
    <div className={`frame page-${page}`} data-open={open}>
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header className="topbar">
        <button type="button" className="icon-button" aria-label="Menu" aria-expanded={open} aria-controls="side" onClick={() => setOpen(!open)}>
          <Icon name={open ? "close" : "menu"} />
        </button>
        <span className="brand">
          <Mark size={24} /> Rejoinder
        </span>
      </header>
      <aside className="side" id="side" aria-label="Side">
        <div className="side-head">
          <Mark size={26} />
          <h1>Rejoinder</h1>
        </div>
        {side}
        <div className="side-foot">
          <nav aria-label="Pages">
            {PAGES.map((one) => (
              <Link key={one.page} to={addressOf(one.page)} current={one.page === page}>
                <Icon name={one.icon} /> {one.name}
              </Link>
            ))}
          </nav>
          <fieldset className="themes">
            <legend className="visually-hidden">Colours</legend>
            {THEMES.map((one) => (
              <button
                key={one.theme}
                type="button"
                className="icon-button small"
                aria-label={one.name}
                title={one.name}
                aria-pressed={theme === one.theme}
                onClick={() => setTheme(one.theme)}
              >
                <Icon name={one.icon} size={16} />
              </button>
            ))}
          </fieldset>
        </div>
      </aside>
      <div className="veil" onClick={() => setOpen(false)} />
      <main ref={main} id="main" className="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
