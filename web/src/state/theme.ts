// Light, dark, or as the system says.

import { Signal } from "./signal.ts";

export type Theme = "system" | "light" | "dark";
const NAME = "chitin-theme";

export const theme = new Signal<Theme>(read());

function read(): Theme {
  try {
    const kept = localStorage.getItem(NAME);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

function show(): void {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
}

/** Goes on to the next one. */
export function nextTheme(): void {
  const order: Theme[] = ["system", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
  try {
    localStorage.setItem(NAME, theme.value);
  } catch {
    // It holds as long as the page does.
  }
  show();
}

show();
