// The current state: each process with where it stands and its variables, then what all share, then the channels.

import { find, make } from "./dom.js";
import { badge, colour, nameOf } from "./lanes.js";

/** The panel of the state; `goto` shows a line of the source. */
export class State {
  constructor(walk, goto) {
    this.walk = walk;
    this.goto = goto;
    this.list = find("state-list");
    this.filter = find("state-filter");
    this.changed = find("state-changed");
    this.closed = new Set();
    walk.on("shown", () => this.show());
    this.filter.addEventListener("input", () => this.narrow());
    this.changed.addEventListener("change", () => this.show());
  }

  narrow() {
    const view = this.walk.view;
    if (!view) return;
    const asked = this.walk.filters.values !== "" || view.values_total > view.values.length;
    if (asked) {
      this.walk.filters.values = this.filter.value.trim();
      this.walk.fetch().catch((error) => this.walk.report(error));
    } else this.show();
  }

  show() {
    const view = this.walk.view;
    const text = this.filter.value.trim().toLowerCase();
    const values = view.values.filter(
      (value) => (!text || value.name.toLowerCase().includes(text)) && (!this.changed.checked || isChanged(value)),
    );
    const owned = new Map(view.processes.map((process) => [process.lane, []]));
    const shared = [];
    const channels = [];
    for (const value of values) {
      if (value.channel) channels.push(value);
      else if (owned.has(value.lane)) owned.get(value.lane).push(value);
      else shared.push(value);
    }
    const narrowed = text !== "" || this.changed.checked;
    const groups = [];
    for (const process of view.processes) {
      const own = owned.get(process.lane);
      const named = text !== "" && !this.changed.checked && process.name.toLowerCase().includes(text);
      if (narrowed && !own.length && !named) continue;
      groups.push(this.process(process, own, view));
    }
    if (shared.length) groups.push(this.group(view.processes.length ? "shared" : "values", view.processes.length ? "Shared" : "Values", shared));
    if (channels.length) groups.push(this.group("channels", "Channels", channels));
    if (!groups.length) groups.push(make("p", { class: "empty" }, narrowed ? "Nothing here has this in its name." : "This state has no variables."));
    find("state-count").textContent =
      values.length < view.values_total
        ? `${values.length.toLocaleString("en")} of ${view.values_total.toLocaleString("en")}`
        : "";
    const top = this.list.scrollTop;
    this.list.replaceChildren(...groups);
    this.list.scrollTop = top;
  }

  process(process, values, view) {
    const line = process.lines?.[0];
    const moved = view.steps.some((step) => step.lane === process.lane || step.row?.to === process.lane);
    const head = [
      badge(process.lane),
      make("span", { class: "name" }, process.name),
      process.at !== null && process.at !== undefined
        ? make("span", { class: "at", "data-name": `${process.name}@`, title: "where it stands" }, process.at)
        : null,
      line
        ? make(
            "button",
            {
              type: "button",
              class: "link",
              title: "Show this line in the source",
              onclick: (event) => {
                event.preventDefault();
                this.goto(line);
              },
            },
            `line ${line.line}`,
          )
        : null,
    ];
    return this.group(`process ${process.lane}`, head, values, process, moved);
  }

  group(key, head, values, process, moved) {
    const lane = process ? colour(process.lane) : "lane-none";
    const rows = values.map((value) => row(value, process));
    if (!rows.length) return make("div", { class: `group bare ${lane}${moved ? " moved" : ""}` }, make("div", { class: "head" }, head));
    const group = make(
      "details",
      { class: `group ${lane}${moved ? " moved" : ""}`, open: !this.closed.has(key) },
      make("summary", { class: "head" }, head),
      make("div", { class: "rows" }, rows),
    );
    group.addEventListener("toggle", () => {
      if (group.open) this.closed.delete(key);
      else this.closed.add(key);
    });
    return group;
  }
}

const isChanged = (value) => value.before !== null && value.before !== undefined;

function row(value, process) {
  const start = process ? `${process.name}.` : "";
  const short = start && value.name.startsWith(start) ? value.name.slice(start.length) : value.name;
  const changed = isChanged(value);
  return make(
    "div",
    { class: changed ? "row changed" : "row", "data-name": value.name, title: process ? `${nameOf(process.lane)}: ${value.name}` : value.name },
    make("span", { class: "variable" }, short),
    make(
      "span",
      { class: "value" },
      changed ? make("del", { title: "before the last step" }, value.before) : null,
      changed ? " " : null,
      make("span", { class: "now" }, value.value),
    ),
  );
}
