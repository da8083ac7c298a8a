import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const stored = "gantry-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

const chosen = (): Theme | undefined => {
  const value = localStorage.getItem(stored);
  return value === "light" || value === "dark" ? value : undefined;
};
const current = (): Theme => chosen() ?? (dark.matches ? "dark" : "light");

/** What was chosen here, else what the system says; also when that changes while the page is open. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = current();
  for (const listener of listeners) listener();
}
dark.addEventListener("change", applyTheme);

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(stored, theme);
  applyTheme();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}
