// Where we are: the tree of the states visited, the line of steps that is shown, and the place on it.
//
// The line goes from an initial state through the current one to where we were before going back, so that one can go
// forward again. Taking another event makes a branch; the line follows, at each state, the branch used last.
//
// Whatever moves asks the server first and moves when the state is there, so that what is shown is always of one state.

import { get, post } from "./api.js";
import { name } from "./lanes.js";

/** Keys that are pressed faster than the server answers wait; more of them than this are forgotten. */
const WAITING = 50;
/** Steps of a long way that are asked for at once: the server keeps no more than that in memory. */
const PIECE = 1000;

/** A property as it is said of a run: what it is called, and what exactly went wrong. */
export const saying = ({ name, what, line }) =>
  `${name}${what ? ` — ${what.replace(/^assertion violated /, "")}` : ""}${line ? ` (line ${line})` : ""}`;

/** What a run is said to do to a property: one that was saved may be of another model than the one that is there now. */
export const judged = ({ verdict, saved }) =>
  verdict === "violated"
    ? saved
      ? "was saved as one that violates"
      : "violates"
    : saved
      ? "was saved as one that shows"
      : "shows";

/** The same at the end of a chart; nothing where nothing was decided. */
export function remarks(about) {
  if (about?.verdict === "violated")
    return [{ lane: null, text: `${about.saved ? "saved as violating" : "violated"}: ${saying(about)}` }];
  if (about?.verdict === "verified")
    return [{ lane: null, good: true, text: `${about.saved ? "saved as showing" : "shows"}: ${saying(about)}` }];
  return [];
}

/** What can go wrong in a state besides what the run there is about. */
export const further = (faults, about) => (faults ?? []).filter((fault) => !about?.what || fault.text !== about.what);

export class Walk {
  constructor(report) {
    this.report = report;
    this.listeners = { moved: [], shown: [] };
    this.filters = { values: "", enabled: "" };
    this.work = Promise.resolve();
    this.waiting = 0;
    this.failures = 0;
    this.clear();
  }

  clear() {
    this.tree = new Map();
    this.line = [];
    this.position = 0;
    this.loops = new Map();
    // What the runs show that a check has found, by their ends.
    this.about = new Map();
    this.view = null;
  }

  /** Calls back when the line or the place on it changed (`moved`), or a state has arrived (`shown`). */
  on(event, listener) {
    this.listeners[event].push(listener);
  }

  emit(event, detail) {
    for (const listener of this.listeners[event]) listener(detail);
  }

  get current() {
    return this.line[this.position];
  }

  steps(node) {
    return this.tree.get(node)?.steps ?? [];
  }

  /** Where the loop of the line begins and ends, as places of the line, if it has one. */
  get loop() {
    for (const [end, start] of this.loops) {
      const to = this.line.lastIndexOf(end);
      const from = to < 0 ? -1 : this.line.lastIndexOf(start, to);
      if (from >= 0) return { from, to };
    }
    return null;
  }

  /** Does one thing after the other, each when the one before is done. What was asked for before something failed was
   * meant for another state than the one that is still shown, and is not done. */
  queue(action) {
    const { failures } = this;
    this.waiting++;
    this.work = this.work
      .then(() => failures === this.failures && action())
      .catch((error) => {
        this.failures++;
        this.report(error);
      })
      .finally(() => this.waiting--);
    return this.work;
  }

  /** Does what a key or a button asks for, unless far too many wait already. */
  press(action) {
    return this.waiting < WAITING ? this.queue(action) : this.work;
  }

  add(node, parent, steps) {
    for (const step of steps) if (step.lane_name) name(step.lane, step.lane_name);
    const known = this.tree.get(node);
    if (known) return;
    this.tree.set(node, { parent, steps, children: [], last: null });
    if (parent !== null) this.tree.get(parent)?.children.push(node);
  }

  /** Makes the line go through a node of the tree, and on as it was walked last. */
  stand(node) {
    const place = this.line.indexOf(node);
    if (place >= 0) this.position = place;
    else {
      const line = [];
      for (let at = node; at !== null; at = this.tree.get(at).parent) line.push(at);
      line.reverse();
      line.forEach((at, index) => {
        if (index + 1 < line.length) this.tree.get(at).last = line[index + 1];
      });
      this.position = line.length - 1;
      for (let at = this.tree.get(node).last; at !== null; at = this.tree.get(at).last) line.push(at);
      this.line = line;
    }
  }

  query() {
    const parts = Object.entries(this.filters).filter(([, text]) => text);
    return parts.length ? `?${parts.map(([key, text]) => `${key}=${encodeURIComponent(text)}`).join("&")}` : "";
  }

  /** Asks for the current state anew, as after another filter; an answer that comes too late is forgotten. */
  async fetch() {
    const wanted = this.current;
    const filters = this.query();
    const view = await get(`node/${wanted}${filters}`);
    if (wanted !== this.current || filters !== this.query()) return;
    this.keep(view);
    this.emit("shown", view);
  }

  /** A state as the filters want it, even if they change while it is on its way. */
  async ask(node) {
    for (;;) {
      const filters = this.query();
      const view = await get(`node/${node}${filters}`);
      if (filters === this.query()) return view;
    }
  }

  keep(view) {
    for (const process of view.processes) name(process.lane, process.name);
    this.view = view;
    const about = this.about.get(view.node);
    const wrong = remarks(about);
    for (const name of view.violations ?? [])
      if (name !== about?.name) wrong.push({ lane: null, text: `violated: ${name}` });
    for (const { lane, text } of further(view.faults, about)) wrong.push({ lane, text });
    if (view.end && view.bad) wrong.push({ lane: null, text: view.end });
    const entry = this.tree.get(view.node);
    if (entry) entry.wrong = wrong;
  }

  /** Moves to a state that has arrived; `cut` forgets what was walked after it before. */
  arrive(view, why, cut = false) {
    this.stand(view.node);
    if (cut) {
      this.tree.get(view.node).last = null;
      this.line.length = this.position + 1;
    }
    this.keep(view);
    this.emit("moved", why);
    this.emit("shown", view);
  }

  /** Takes an enabled event of a node, if that is still where we are. */
  take(node, choice) {
    return this.press(() => node === this.current && this.step(choice));
  }

  /** Takes the event that `choose` finds in the state that is shown when everything asked for before is done. */
  takeLater(choose) {
    return this.press(() => {
      const event = this.view && choose();
      return event && this.step(event.choice);
    });
  }

  async step(choice) {
    const node = this.current;
    const view = await post("step", { node, choice });
    this.add(view.node, node, view.steps);
    const narrowed =
      this.query() && (view.values_total > view.values.length || view.enabled_total > view.enabled.length);
    this.arrive(narrowed ? await this.ask(view.node) : view, "step");
  }

  /** Goes so many places along the line, back where negative. */
  along(places) {
    return this.press(async () => {
      const to = Math.max(0, Math.min(this.line.length - 1, this.position + places));
      if (to !== this.position) this.arrive(await this.ask(this.line[to]), places < 0 ? "undo" : "redo");
    });
  }

  /** Goes to a node, which may be one that the page has not seen yet. */
  to(node, why = "jump") {
    return this.press(() => this.open({ node, loop: null }, why));
  }

  /** Takes up to so many events at random. */
  random(steps) {
    return this.press(async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const from = this.current;
      if (from === undefined) return;
      const answer = await post("random", { node: from, steps, seed });
      if (answer.node !== from) await this.open({ node: answer.node, loop: null }, "random");
    });
  }

  /** Goes to the end of a run that the server has replayed, with all its steps. */
  async open(end, why) {
    // What is known already need not be sent again, where the way goes through the current state.
    let known = this.current;
    while (!this.tree.has(end.node)) {
      const after = known === undefined ? "" : `&after=${known}`;
      const { path } = await get(`path/${end.node}?most=${PIECE}${after}`);
      for (const entry of path) this.add(entry.node, entry.parent, entry.steps);
      if (!path.length) break;
      known = path.at(-1).node;
    }
    if (end.property) this.about.set(end.node, end.property);
    const view = await this.ask(end.node);
    if (end.loop !== null && end.loop !== undefined) {
      this.loops.clear();
      this.loops.set(end.node, end.loop);
    }
    this.arrive(view, why, why === "trace");
  }

  /** Begins: the initial states are the roots of the tree. Where one was before the page was loaded again is found again,
   * if the server still knows it. */
  async begin(model, before) {
    this.clear();
    for (const node of model.initial) this.add(node, null, []);
    if (!before) return this.open(model.start, "start");
    try {
      const { property } = before.run.node === model.start.node ? model.start : {};
      await this.open({ ...before.run, property }, "start");
      if (before.current !== this.current) await this.open({ node: before.current, loop: null }, "start");
    } catch (error) {
      if (error.status !== 404) throw error;
      await this.begin(model, null);
    }
  }
}
