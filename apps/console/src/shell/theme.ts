import { createStore, useStore } from "../ui/store.ts";

export type Theme = "light" | "dark";

const storageKey = "gantry-theme";
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const theme = createStore<Theme>("light");

export const useTheme = (): Theme => useStore(theme);

/** Uses the theme chosen in this browser, or follows the system. */
export function applyTheme(): void {
  const chosen = localStorage.getItem(storageKey);
  const next = chosen === "light" || chosen === "dark" ? chosen : systemDark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = next;
  theme.set(next);
}
systemDark.addEventListener("change", applyTheme);

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(storageKey, chosen);
  applyTheme();
}
