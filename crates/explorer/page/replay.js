// A run that is all there: what the walk is to the page of the explorer, for a page that has no server to ask.

import { name } from "./lanes.js";
import { further, remarks } from "./walk.js";

/** A recorded run. Of each state it has what differs from the one before. */
export class Replay {
  constructor(data) {
    this.data = data;
    this.listeners = { moved: [], shown: [] };
    this.filters = { values: "", enabled: "" };
    this.line = data.states.map((_, node) => node);
    this.position = 0;
    this.loops = new Map();
    this.tree = new Map();
    this.views = [];
    this.about = new Map();
    const last = this.line.length - 1;
    if (data.property) this.about.set(last, data.property);
    data.states.forEach((state, node) => {
      for (const step of state.steps ?? []) if (step.lane_name) name(step.lane, step.lane_name);
      const children = node < last ? [node + 1] : [];
      const parent = node ? node - 1 : null;
      this.tree.set(node, { parent, steps: state.steps ?? [], children, last: null, wrong: this.wrong(node) });
    });
  }

  on(event, listener) {
    this.listeners[event].push(listener);
  }

  get current() {
    return this.position;
  }

  get view() {
    return this.viewOf(this.position);
  }

  get loop() {
    const from = this.data.loop;
    return from === null || from === undefined ? null : { from, to: this.line.length - 1 };
  }

  steps(node) {
    return this.tree.get(node)?.steps ?? [];
  }

  /** What is wrong with a state. */
  wrong(node) {
    const state = this.data.states[node];
    const about = this.about.get(node);
    const out = remarks(about);
    for (const name of state.violations ?? [])
      if (name !== about?.name) out.push({ lane: null, text: `violated: ${name}` });
    for (const { lane, text } of further(state.faults, about)) out.push({ lane, text });
    if (state.end && state.bad) out.push({ lane: null, text: state.end });
    return out;
  }

  /** A state with all its values, made from the one before. */
  viewOf(node) {
    for (let at = this.views.length; at <= node; at++) {
      const state = this.data.states[at];
      const values = new Map(this.views[at - 1]?.kept);
      const before = new Map();
      for (const [entry, value, old] of state.values) {
        if (value === null) values.delete(entry);
        else values.set(entry, value);
        if (old !== undefined) before.set(entry, old);
      }
      this.views.push({ kept: values, before });
    }
    const { kept, before } = this.views[node];
    const state = this.data.states[node];
    const entries = [...kept.keys()].sort((a, b) => a - b);
    return {
      node,
      processes: state.processes.map((number) => this.data.processes[number]),
      values: entries.map((entry) => ({
        lane: null,
        ...this.data.entries[entry],
        value: kept.get(entry),
        before: before.get(entry) ?? null,
      })),
      values_total: kept.size,
      enabled_total: state.enabled,
      steps: state.steps ?? [],
      violations: state.violations ?? [],
      end: state.end,
      bad: state.bad,
    };
  }

  /** Shows the state at a place. */
  go(place, why) {
    this.position = Math.max(0, Math.min(this.line.length - 1, place));
    const { view } = this;
    for (const process of view.processes) name(process.lane, process.name);
    for (const listener of this.listeners.moved) listener(why);
    for (const listener of this.listeners.shown) listener(view);
  }

  along(places) {
    this.go(this.position + places, places < 0 ? "undo" : "redo");
  }

  to(node) {
    this.go(node, "jump");
  }

  report(error) {
    console.error(error);
  }
}
