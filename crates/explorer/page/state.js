// The current state: each process with where it stands and its variables, then what all share, then the channels.

import { find, make, settle } from "./dom.js";
import { badge, badgeOf, colour, nameOf } from "./lanes.js";

/** How wide a column is at least, and how many there are at most. */
const NARROWEST = 230;
const COLUMNS = 3;
/** A long group is cut into parts of at most so many values, which may stand in different columns. */
const PART = 30;
/** How high a head and a value are, about. */
const HEAD = 32;
const ROW = 22;
/** Letters at the end of a long name that are always shown. */
const TAIL = 5;

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
    // What is shown, by what it is of: parts that say the same as before are kept.
    this.parts = new Map();
    this.groups = make("div", { class: "groups" });
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
    this.walk.filters.values = this.filter.value.trim();
    // Where not all values are here, those that suit may be elsewhere.
    if (view.values.length < view.values_total) this.walk.fetch().catch((error) => this.walk.report(error));
    else this.show();
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
    this.before = this.parts;
    this.parts = new Map();
    for (const process of view.processes) {
      const own = owned.get(process.lane);
      const named = process.name.toLowerCase().includes(text);
      // Who has moved has changed, even if none of its variables has.
      const suits = this.changed.checked ? named && hasMoved(process, view) : text !== "" && named;
      if (narrowed && !own.length && !suits) continue;
      groups.push(...this.process(process, own, view));
    }
    if (shared.length) groups.push(...this.group("shared", called(view.processes.length ? "Shared" : "Values"), shared));
    if (channels.length) groups.push(...this.group("channels", called("Channels"), channels));
    const none =
      text !== ""
        ? "Nothing here has this in its name."
        : this.changed.checked
          ? "The last step has changed nothing here."
          : view.values_total
            ? "All places are empty."
            : "This state has no variables.";
    if (!groups.length) groups.push({ element: make("p", { class: "empty" }, none), height: HEAD });
    find("state-count").textContent =
      values.length < view.values_total
        ? `${values.length.toLocaleString("en")} of ${view.values_total.toLocaleString("en")}`
        : "";
    settle(this.list, [this.groups]);
    this.pile(groups);
  }

  /** Puts the parts one below the other in columns of about the same height. */
  pile(parts) {
    const total = parts.reduce((sum, part) => sum + part.height, 0);
    const piles = Array.from({ length: this.columns }, () => []);
    let [column, height] = [0, 0];
    for (const part of parts) {
      const full = height + part.height / 2 > (total / this.columns) * (column + 1);
      if (full && piles[column].length && column + 1 < this.columns) column++;
      piles[column].push(part.element);
      height += part.height;
    }
    const columns = piles.map((_, index) => this.groups.children[index] ?? make("div", { class: "pile" }));
    settle(this.groups, columns);
    piles.forEach((pile, index) => settle(columns[index], pile));
  }

  /** A part `{element, height}`: the one that was shown before if that said the same, else made anew. */
  part(key, says, height, content) {
    const text = JSON.stringify(says);
    let part = this.before.get(key);
    if (part?.text !== text) {
      const element = content();
      // What is out of sight is not laid out, but takes its room.
      element.style.containIntrinsicSize = `auto ${height}px`;
      part = { text, element, height };
    }
    this.parts.set(key, part);
    return part;
  }

  process(process, values, view) {
    const line = process.lines?.[0];
    const moved = hasMoved(process, view);
    const place = standing(process, view, line);
    const head = {
      says: [process.name, badgeOf(process.lane), line, moved, place],
      content: () => [badge(process.lane), make("span", { class: "name", title: process.name }, halves(process.name)), told(place)],
      classes: `${moved ? " moved" : ""}${line ? " linked" : ""}`,
      link: () => {
        const title = "Show this line in the source";
        const onclick = () => this.goto(line);
        return line && make("button", { type: "button", class: "link", title, onclick }, `line ${line.line}`);
      },
    };
    return this.group(`process ${process.lane}`, head, values, process);
  }

  /** A group as parts: the first has the head. */
  group(key, head, values, process) {
    const classes = `group ${process ? colour(process.lane) : "lane-none"}`;
    const group = (...content) => make("div", { class: `${classes}${head.classes ?? ""}` }, content, head.link?.());
    if (!values.length)
      return [this.part(key, head.says, HEAD, () => group(make("div", { class: "head bare" }, head.content())))];
    const open = !this.closed.has(key);
    const length = process ? PART : Math.max(8, Math.min(PART, Math.ceil(values.length / this.columns)));
    const rows = (some) => {
      const content = some.map((value) => row(value, process));
      return make("div", { class: "rows" }, content);
    };
    const some = values.slice(0, length);
    const parts = [
      this.part(key, [head.says, open, some], open ? HEAD + some.length * ROW : HEAD, () =>
        group(this.details(key, open, head.content(), rows(some))),
      ),
    ];
    for (let from = length; open && from < values.length; from += length) {
      const more = values.slice(from, from + length);
      const content = () => make("div", { class: classes }, rows(more));
      parts.push(this.part(`${key} from ${from}`, [process?.name, more], more.length * ROW, content));
    }
    return parts;
  }

  /** What can be folded. */
  details(key, open, head, rows) {
    const details = make("details", { open }, make("summary", { class: "head" }, head), rows);
    details.addEventListener("toggle", () => {
      if (details.open === open) return;
      if (details.open) this.closed.delete(key);
      else this.closed.add(key);
      const focused = details.contains(document.activeElement);
      this.show();
      if (focused) this.parts.get(key)?.element.querySelector("summary")?.focus();
    });
    return details;
  }
}

/** Whether a process took part in the last step. */
const hasMoved = (process, view) =>
  view.steps.some((step) => step.lane === process.lane || step.row?.to === process.lane);

/** Where a process stands, marked where it came there by the last step. A place that is only called after its line says
 * nothing that the line does not say. */
function standing(process, view, line) {
  if (process.at === null || process.at === undefined || process.at === `line ${line?.line}`) return null;
  const change = view.steps.flatMap((step) => step.changes ?? []).find(([name]) => name === process.name);
  return { at: process.at, before: change && change[1] !== process.at ? `before the last step: ${change[1]}` : null };
}

const told = (place) =>
  place && make("span", { class: place.before ? "at changed" : "at", title: place.before ?? "where it stands" }, place.at);

/** A long name in two parts, of which the first gives way where there is little room: names often differ at their ends. */
function halves(name) {
  if (name.length <= 2 * TAIL) return name;
  return [make("span", { class: "front" }, name.slice(0, -TAIL)), make("span", {}, name.slice(-TAIL))];
}

/** The head of a group that is no process. */
const called = (name) => ({ says: name, content: () => name });

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
  const short = value.short ?? (process ? withoutOwner(value.name, process.name) : value.name);
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
