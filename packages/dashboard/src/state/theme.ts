/** Light or dark: as the system has it, unless someone chose. */
import { cell } from "./cell.ts";

export type Theme = "system" | "light" | "dark";

const NAME = "holdfast-theme";

export const theme = cell<Theme>(stored());

function stored(): Theme {
  try {
    const found = localStorage.getItem(NAME);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

export function setTheme(next: Theme): void {
  theme.set(next);
  showTheme();
  try {
    localStorage.setItem(NAME, next);
  } catch {
    // Storage may be forbidden: then it lasts as long as the page.
  }
}

export function showTheme(): void {
  const now = theme.get();
  const { dataset } = document.documentElement;
  if (now === "system") delete dataset["theme"];
  else dataset["theme"] = now;
}
