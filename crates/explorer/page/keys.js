// The keyboard: what every key does, in one table that is also the help.

import { find, make } from "./dom.js";

/** Keys, what they do in words, and the name and arguments of that. Without a name, what they do is done elsewhere: then
 * what comes next says with which other things they are there. */
const TABLE = [
  ["1 … 9", "take the event with this number", null, "take"],
  [["j", "ArrowDown"], "next event in the list", "select", 1],
  [["k", "ArrowUp"], "previous event in the list", "select", -1],
  ["Enter", "take the event chosen in the list", null, "take"],
  [["u", "Backspace", "ArrowLeft"], "one step back", "along", -1],
  [["r", "ArrowRight"], "one step forward again", "along", 1],
  [["Home"], "back to the beginning", "along", -Infinity],
  [["End"], "to the end of the run", "along", Infinity],
  [["n"], "take one event at random", "random", 1],
  [["N"], "take twenty events at random", "random", 20],
  [["/"], "filter the events", "filter"],
  [["e"], "events", "panel", "events"],
  [["s"], "state", "panel", "state"],
  [["o"], "source", "panel", "source"],
  [["i"], "edit the source", "edit"],
  [["t"], "net (Petri nets)", "panel", "net"],
  [["c"], "chart", "panel", "chart"],
  [["g"], "graph", "panel", "graph"],
  [["h"], "history", "panel", "history"],
  [["p"], "check a property", "panel", "check"],
  [["m"], "give the panel used last the whole window, or take it back", "enlarge"],
  ["+ − 0 and arrows", "in the graph and the net: zoom, show everything, move", null, "enlarge"],
  [["d"], "dark or light colours", "theme"],
  [["?"], "these keys", "help"],
];

/** Listens to the keys; `does` has a function for each thing that can be done, and nobody hears of the others. */
export function listen(does) {
  const table = TABLE.filter(([, , action, needs]) => does[action ?? needs]);
  const called = (action, words) => () => does[action](...words);
  const actions = new Map(
    table.flatMap(([keys, , action, ...words]) => (action ? keys.map((key) => [key, called(action, words)]) : [])),
  );
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
    if (does.take && /^[1-9]$/.test(event.key)) does.take(Number(event.key) - 1);
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
