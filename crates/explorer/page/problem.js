// What is wrong with a text: where, what, the line with the place underlined, and what would help.

import { make } from "./dom.js";

/** Where it is, in words. */
export const where = (problem) =>
  problem.line ? `${problem.file ? `${problem.name}, ` : ""}line ${problem.line}, column ${problem.column}` : "";

/** A problem as an element; `go` leads to the place in the text, if there is one. */
export function shown(problem, go) {
  const place = where(problem);
  const line = (problem.text ?? "").replaceAll("\t", " ");
  const from = Math.max(0, (problem.column ?? 1) - 1);
  const until = Math.max(from + 1, problem.end_column ? problem.end_column - 1 : from + 1);
  // A long line is cut around the place.
  const first = from > 60 ? from - 40 : 0;
  return make(
    "div",
    { class: "wrong" },
    make(
      "p",
      {},
      place ? (go ? make("button", { type: "button", class: "link place", onclick: go }, place) : make("span", { class: "place" }, place)) : null,
      place ? " " : null,
      make("strong", {}, problem.message),
    ),
    line.trim()
      ? make(
          "pre",
          {},
          first ? "…" : "",
          line.slice(first, from),
          make("mark", {}, line.slice(from, until) || " "),
          line.slice(until, first + 160),
        )
      : null,
    problem.help ? make("p", { class: "helps" }, problem.help) : null,
  );
}
