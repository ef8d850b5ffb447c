// Light, dark, or what the system says; the choice is kept on this device.
import { useEffect, useState } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "rejoinder:theme";

export function keptTheme(): Theme {
  try {
    const kept = window.localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

export function showTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => {
    showTheme(theme);
    try {
      window.localStorage.setItem(KEY, theme);
    } catch {
      // A browser that keeps nothing shows the choice until the page is left.
    }
  }, [theme]);
  return [theme, setTheme];
}
