// The keyboard: what every key does, in one table that is also the help.

import { find, make } from "./dom.js";

/** Listens to the keys; `does` has a function for each thing that can be done. */
export function listen(does) {
  const table = [
    ["1 … 9", "take the event with this number"],
    [["j", "ArrowDown"], "next event in the list", () => does.select(1)],
    [["k", "ArrowUp"], "previous event in the list", () => does.select(-1)],
    ["Enter", "take the event chosen in the list"],
    [["u", "Backspace", "ArrowLeft"], "one step back", () => does.along(-1)],
    [["r", "ArrowRight"], "one step forward again", () => does.along(1)],
    [["Home"], "back to the beginning", () => does.along(-Infinity)],
    [["End"], "to the end of the run", () => does.along(Infinity)],
    [["n"], "take one event at random", () => does.random(1)],
    [["N"], "take twenty events at random", () => does.random(20)],
    [["/"], "filter the events", () => does.filter()],
    [["e"], "events", () => does.panel("events")],
    [["s"], "state", () => does.panel("state")],
    [["o"], "source", () => does.panel("source")],
    [["t"], "net (Petri nets)", () => does.panel("net")],
    [["c"], "chart", () => does.panel("chart")],
    [["g"], "graph", () => does.panel("graph")],
    [["h"], "history", () => does.panel("history")],
    [["p"], "check a property", () => does.panel("check")],
    [["m"], "give the panel used last the whole window, or take it back", () => does.enlarge()],
    ["+ − 0 and arrows", "in the graph and the net: zoom, show everything, move"],
    [["?"], "these keys", () => does.help()],
  ];
  const actions = new Map(table.flatMap(([keys, , action]) => (action ? keys.map((key) => [key, action]) : [])));
  const signs = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };
  find("help-keys").replaceChildren(
    ...table.flatMap(([keys, text]) => [
      make(
        "dt",
        {},
        [keys].flat().map((key) => make("kbd", {}, signs[key] ?? key)),
      ),
      make("dd", {}, text),
    ]),
  );
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
    const target = event.target;
    if (target.closest("input:not([type=checkbox]), textarea, select")) return;
    if (moves(event.key, target)) return;
    if (/^[1-9]$/.test(event.key)) does.take(Number(event.key) - 1);
    else if (actions.has(event.key)) actions.get(event.key)();
    else return;
    event.preventDefault();
  });
}

/** Whether a key already means something where the focus is: scrolling, or moving a drawing. */
function moves(key, target) {
  if (!key.startsWith("Arrow")) return false;
  if (target.closest(".canvas, .divider, #source-list")) return true;
  return key !== "ArrowLeft" && key !== "ArrowRight" && target.closest(".scroll") && !target.closest("#events");
}
