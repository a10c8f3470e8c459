// Light or dark: as the system wants it, until the switch says otherwise.

import { find } from "./dom.js";

const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

/** What was chosen before, where the browser keeps such things. */
function kept() {
  try {
    return localStorage.getItem("scrimp-theme");
  } catch {
    return null;
  }
}

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches);

function tell() {
  const button = find("theme");
  button.textContent = isDark() ? "☀" : "☾";
  button.title = isDark() ? "Light (d)" : "Dark (d)";
  button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
}

/** Changes from light to dark or back. */
export function switchTheme() {
  const theme = isDark() ? "light" : "dark";
  root.dataset.theme = theme;
  try {
    localStorage.setItem("scrimp-theme", theme);
  } catch {
    // It lasts as long as the page, then.
  }
  tell();
}

/** Takes up what was chosen before, and connects the switch. */
export function beginTheme() {
  const theme = kept();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  tell();
  find("theme").addEventListener("click", switchTheme);
  DARK.addEventListener("change", tell);
}
