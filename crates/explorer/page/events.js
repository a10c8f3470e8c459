// The enabled events: who can do what here, what would go wrong, and why nothing can happen where nothing can.

import { find, make } from "./dom.js";
import { badge, colour, nameOf, withoutName } from "./lanes.js";
import { further, judged, saying } from "./walk.js";

/** The panel of enabled events; `point` shows the line of an event in the source, or nothing. */
export class Events {
  constructor(walk, point) {
    this.walk = walk;
    this.point = point;
    this.list = find("events-list");
    this.filter = find("events-filter");
    // What is wrong is read aloud when it comes up; the list itself is not.
    this.noted = make("div", { class: "notes", "aria-live": "polite" });
    this.choices = make("div", {});
    this.list.append(this.noted, this.choices);
    walk.on("moved", () => {
      this.arrived = true;
    });
    walk.on("shown", () => this.show());
    this.filter.addEventListener("input", () => this.narrow());
    this.filter.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.takeAt(0);
      else if (event.key === "Escape") this.clear();
      else if (event.key === "ArrowDown") this.step(1);
      else return;
      event.preventDefault();
    });
  }

  clear() {
    this.filter.value = "";
    this.narrow();
    this.filter.blur();
  }

  narrow() {
    const view = this.walk.view;
    if (!view) return;
    this.walk.filters.enabled = this.filter.value.trim();
    // Where not all events are here, those that suit may be elsewhere.
    if (view.enabled.length < view.enabled_total) this.walk.fetch().catch((error) => this.walk.report(error));
    else this.show();
  }

  /** The events in the list, after the filter. */
  offered() {
    const text = this.filter.value.trim().toLowerCase();
    const events = this.walk.view?.enabled ?? [];
    return text ? events.filter((event) => words(event).includes(text)) : events;
  }

  show() {
    const view = this.walk.view;
    const focused = this.buttons().indexOf(document.activeElement);
    const events = this.offered();
    const total = view.enabled_total;
    find("events-count").textContent =
      events.length < total ? `${events.length.toLocaleString("en")} of ${total.toLocaleString("en")}` : String(total);
    // A filter changes nothing about the state: what was said of it once is not said again.
    if (this.arrived) this.noted.replaceChildren(...this.notes(view));
    this.arrived = false;
    this.choices.replaceChildren(
      make(
        "ol",
        { class: "choices" },
        events.map((event, index) => make("li", {}, this.entry(view, event, index))),
      ),
      ...(events.length === 0 && total > 0
        ? [make("p", { class: "empty" }, "No enabled event has this in its name.")]
        : []),
    );
    this.point(null);
    if (focused >= 0) this.buttons()[0]?.focus();
  }

  /** What must be said before the events: what does not hold, an end, a fault that is near. */
  notes(view) {
    const notes = [];
    const about = this.walk.about.get(view.node);
    if (about?.verdict === "violated")
      notes.push(make("p", { class: "note bad violation" }, `✗ This run ${judged(about)} `, make("strong", {}, saying(about))));
    else if (about?.verdict === "verified")
      notes.push(make("p", { class: "note good" }, `✓ This run ${judged(about)} `, make("strong", {}, saying(about))));
    for (const name of (view.violations ?? []).filter((name) => name !== about?.name))
      notes.push(make("p", { class: "note bad violation" }, "✗ Violated in this state: ", make("strong", {}, name)));
    for (const step of view.steps) {
      if (step.violated) notes.push(make("p", { class: "note bad" }, `The last step violates: ${step.violated}`));
    }
    if (view.end) notes.push(make("p", { class: view.bad ? "note bad" : "note good" }, view.end));
    for (const fault of further(view.faults, about)) {
      notes.push(
        make(
          "p",
          { class: "note bad fault", onmouseenter: () => this.point(fault), onmouseleave: () => this.point(null) },
          fault.lane === null || fault.lane === undefined ? "One event" : badge(fault.lane),
          " would go wrong: ",
          make("strong", {}, fault.text),
          fault.label.startsWith("assert") ? "" : `, in ${withoutName(fault.label, fault.lane)}`,
          fault.line ? ` (line ${fault.line})` : "",
        ),
      );
    }
    return notes;
  }

  entry(view, event, index) {
    const label = withoutName(event.label, event.lane);
    const title = event.statement ?? label;
    const known = event.node !== null && event.node !== undefined ? "taken" : event.seen ? "known state" : null;
    const lanes = lanesOf(event);
    const under = event.statement && event.statement !== label ? label : rest(event.source ?? "", title);
    return make(
      "button",
      {
        type: "button",
        class: `choice ${colour(event.lane)}${known ? " known" : ""}`,
        "data-choice": event.choice,
        title: event.source && event.source !== under ? `${event.label}\n${event.source}` : event.label,
        onclick: () => this.walk.take(view.node, event.choice),
        onmouseenter: () => this.point(event),
        onmouseleave: () => this.point(null),
        onfocus: () => this.point(event, true),
        onblur: () => this.point(null),
      },
      make("kbd", { "aria-hidden": "true" }, index < 9 ? String(index + 1) : ""),
      make("span", { class: "who" }, lanes.map(badge)),
      make("span", { class: "what" }, title),
      known ? make("span", { class: "mark" }, known) : null,
      make(
        "span",
        { class: "where" },
        event.line ? make("span", { class: "line" }, `${event.line}`) : null,
        under && make("code", {}, under),
      ),
    );
  }

  buttons() {
    return [...this.list.querySelectorAll("[data-choice]")];
  }

  /** Takes the event at a place of the list, as it will be when earlier steps are done. */
  takeAt(index) {
    this.walk.takeLater(() => this.offered()[index]);
  }

  /** Takes one of the offered events at random. */
  takeAny() {
    this.walk.takeLater(() => {
      const events = this.offered().length ? this.offered() : this.walk.view.enabled;
      return events[Math.floor(Math.random() * events.length)];
    });
  }

  /** Moves the focus along the list. */
  step(places) {
    const buttons = this.buttons();
    if (!buttons.length) return;
    const at = buttons.indexOf(document.activeElement);
    const next = at < 0 ? (places > 0 ? 0 : buttons.length - 1) : (at + places + buttons.length) % buttons.length;
    buttons[next].focus();
  }
}

/** What an event is found by: what it is called, its line, and who takes part. */
function words(event) {
  const who = lanesOf(event).map(nameOf);
  return [event.label, event.source ?? "", ...who].join(" ").toLowerCase();
}

/** The processes that take part in an event. */
const lanesOf = ({ lane, lanes }) => (lanes?.length ? lanes : lane === null || lane === undefined ? [] : [lane]);

/** What a line says beyond what was said already: events that begin alike differ in their rest. */
function rest(source, said) {
  const left = source.startsWith(said) ? source.slice(said.length).trim() : source;
  // A semicolon says nothing.
  return /\w/.test(left) ? left : "";
}
