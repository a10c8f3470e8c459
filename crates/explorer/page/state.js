// The current state: each process with where it stands and its variables, then what all share, then the channels.

import { find, make } from "./dom.js";
import { badge, colour, nameOf } from "./lanes.js";

/** How wide a column is at least, and how many there are at most. */
const NARROWEST = 230;
const COLUMNS = 3;
/** A long group is cut into parts of at most so many values, which may stand in different columns. */
const PART = 30;
/** How high a head and a value are, about. */
const HEAD = 32;
const ROW = 22;

/** The panel of the state; `goto` shows a line of the source. */
export class State {
  constructor(walk, goto) {
    this.walk = walk;
    this.goto = goto;
    this.list = find("state-list");
    this.filter = find("state-filter");
    this.changed = find("state-changed");
    this.closed = new Set();
    this.columns = 1;
    new ResizeObserver(([entry]) => {
      const columns = Math.max(1, Math.min(COLUMNS, Math.floor(entry.contentRect.width / NARROWEST)));
      if (columns === this.columns || entry.contentRect.width === 0) return;
      this.columns = columns;
      if (walk.view) this.show();
    }).observe(this.list);
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
      groups.push(...this.process(process, own, view));
    }
    if (shared.length) groups.push(...this.group("shared", view.processes.length ? "Shared" : "Values", shared));
    if (channels.length) groups.push(...this.group("channels", "Channels", channels));
    const none = narrowed ? "Nothing here has this in its name." : "This state has no variables.";
    if (!groups.length) groups.push({ element: make("p", { class: "empty" }, none), height: HEAD });
    find("state-count").textContent =
      values.length < view.values_total
        ? `${values.length.toLocaleString("en")} of ${view.values_total.toLocaleString("en")}`
        : "";
    this.list.replaceChildren(make("div", { class: "groups" }, this.piles(groups)));
  }

  /** The parts one below the other in columns of about the same height. */
  piles(parts) {
    const total = parts.reduce((sum, part) => sum + part.height, 0);
    const piles = Array.from({ length: this.columns }, () => []);
    let [column, height] = [0, 0];
    for (const part of parts) {
      const full = height + part.height / 2 > (total / this.columns) * (column + 1);
      if (full && piles[column].length && column + 1 < this.columns) column++;
      piles[column].push(part.element);
      height += part.height;
    }
    return piles.map((pile) => make("div", { class: "pile" }, pile));
  }

  process(process, values, view) {
    const line = process.lines?.[0];
    const moved = view.steps.some((step) => step.lane === process.lane || step.row?.to === process.lane);
    const head = [badge(process.lane), make("span", { class: "name" }, process.name), standing(process, view, line)];
    const title = "Show this line in the source";
    const link =
      line &&
      make("button", { type: "button", class: "link", title, onclick: () => this.goto(line) }, `line ${line.line}`);
    const parts = this.group(`process ${process.lane}`, head, values, process);
    if (moved) parts[0].element.classList.add("moved");
    if (link) {
      parts[0].element.classList.add("linked");
      parts[0].element.append(link);
    }
    return parts;
  }

  /** A group as parts `{element, height}`: the first has the head. */
  group(key, head, values, process) {
    const part = (height, ...content) => {
      const element = make("div", { class: `group ${process ? colour(process.lane) : "lane-none"}` }, content);
      // What is out of sight is not laid out, but takes its room.
      element.style.containIntrinsicSize = `auto ${height}px`;
      return { element, height };
    };
    if (!values.length) return [part(HEAD, make("div", { class: "head bare" }, head))];
    const open = !this.closed.has(key);
    const length = process ? PART : Math.max(8, Math.min(PART, Math.ceil(values.length / this.columns)));
    const rows = (from) => {
      const some = values.slice(from, from + length);
      return [
        make(
          "div",
          { class: "rows" },
          some.map((value) => row(value, process)),
        ),
        some.length * ROW,
      ];
    };
    const [first, height] = rows(0);
    const details = make("details", { open }, make("summary", { class: "head" }, head), first);
    details.addEventListener("toggle", () => {
      if (details.open === open) return;
      if (details.open) this.closed.delete(key);
      else this.closed.add(key);
      this.show();
    });
    const parts = [part(open ? HEAD + height : HEAD, details)];
    for (let from = length; open && from < values.length; from += length) {
      const [more, height] = rows(from);
      parts.push(part(height, more));
    }
    return parts;
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
