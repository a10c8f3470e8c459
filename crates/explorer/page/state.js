// The current state: each process with where it stands and its variables, then what all share, then the channels.

import { find, make } from "./dom.js";
import { badge, colour, nameOf } from "./lanes.js";

/** A group with more values than this may go on in the next column. */
const LONG = 8;

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
    if (shared.length)
      groups.push(
        this.group(view.processes.length ? "shared" : "values", view.processes.length ? "Shared" : "Values", shared),
      );
    if (channels.length) groups.push(this.group("channels", "Channels", channels));
    if (!groups.length)
      groups.push(
        make("p", { class: "empty" }, narrowed ? "Nothing here has this in its name." : "This state has no variables."),
      );
    find("state-count").textContent =
      values.length < view.values_total
        ? `${values.length.toLocaleString("en")} of ${view.values_total.toLocaleString("en")}`
        : "";
    this.list.replaceChildren(make("div", { class: "groups" }, groups));
  }

  process(process, values, view) {
    const line = process.lines?.[0];
    const moved = view.steps.some((step) => step.lane === process.lane || step.row?.to === process.lane);
    const head = [badge(process.lane), make("span", { class: "name" }, process.name), standing(process, view, line)];
    const title = "Show this line in the source";
    const link =
      line &&
      make("button", { type: "button", class: "link", title, onclick: () => this.goto(line) }, `line ${line.line}`);
    const group = this.group(`process ${process.lane}`, head, values, process);
    if (moved) group.classList.add("moved");
    if (link) group.append(link);
    return group;
  }

  group(key, head, values, process) {
    const classes = ["group", process ? colour(process.lane) : "lane-none"];
    if (values.length > LONG) classes.push("long");
    const group = make("div", { class: classes.join(" ") });
    if (!values.length) {
      group.append(make("div", { class: "head bare" }, head));
      return group;
    }
    const rows = make(
      "div",
      { class: "rows" },
      values.map((value) => row(value, process)),
    );
    const details = make("details", { open: !this.closed.has(key) }, make("summary", { class: "head" }, head), rows);
    details.addEventListener("toggle", () => {
      if (details.open) this.closed.delete(key);
      else this.closed.add(key);
    });
    group.append(details);
    return group;
  }
}

/** Where a process stands, marked where it came there by the last step. A place that is only called after its line says
 * nothing that the line does not say. */
function standing(process, view, line) {
  if (process.at === null || process.at === undefined || process.at === `line ${line?.line}`) return null;
  const change = view.steps.flatMap((step) => step.changes ?? []).find(([name]) => name === process.name);
  const before = change && change[1] !== process.at ? `before the last step: ${change[1]}` : null;
  return make("span", { class: before ? "at changed" : "at", title: before ?? "where it stands" }, process.at);
}

const isChanged = (value) => value.before !== null && value.before !== undefined;

/** The name of a variable without that of its process, however that is written: `Node_1.x` is the `x` of `Node:1`. */
function withoutOwner(name, owner) {
  const plain = (text) => text.replace(/[^A-Za-z0-9]/g, "");
  const dot = name.indexOf(".");
  if (dot <= 0) return name;
  const start = plain(name.slice(0, dot));
  return start === plain(owner) || start === plain(owner.replace(/:\d+$/, "")) ? name.slice(dot + 1) : name;
}

function row(value, process) {
  const short = process ? withoutOwner(value.name, process.name) : value.name;
  const changed = isChanged(value);
  return make(
    "div",
    {
      class: changed ? "row changed" : "row",
      "data-name": value.name,
      title: process ? `${nameOf(process.lane)}: ${value.name}` : value.name,
    },
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
