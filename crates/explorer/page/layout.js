// Where the panels are: on a wide window in docks beside each other in three columns, on a smaller one in two, on a narrow one
// a single panel and a bar of tabs.

import { find } from "./dom.js";

const NARROW = window.matchMedia("(max-width: 699px)");
const MEDIUM = window.matchMedia("(min-width: 700px) and (max-width: 1099px)");

/** What gets the focus in each panel. */
const FOCUS = {
  events: "[data-choice]",
  history: "[aria-current]",
  source: ".scroll",
  net: "svg",
  state: ".scroll",
  chart: ".scroll",
  graph: "svg",
  check: "textarea:not([hidden])",
};

/** The panels and their tabs; every panel has exactly one tab, which moves between its dock and the bar. */
export class Layout {
  constructor() {
    this.docks = [...document.querySelectorAll(".dock")].map((dock) => ({
      element: dock,
      strip: dock.querySelector(".tabs"),
      tabs: [...dock.querySelectorAll("[data-panel]")],
    }));
    this.tabs = this.docks.flatMap((dock) => dock.tabs);
    this.listeners = new Map();
    this.chosen = new Map(this.docks.map((dock) => [dock, dock.tabs.find((tab) => !tab.hidden)]));
    this.front = this.tabOf("events");
    for (const tab of this.tabs) {
      tab.setAttribute("aria-controls", tab.dataset.panel);
      tab.addEventListener("click", () => this.show(tab.dataset.panel));
    }
    document.addEventListener("keydown", (event) => this.key(event));
    for (const width of [NARROW, MEDIUM]) width.addEventListener("change", () => this.arrange());
    for (const button of document.querySelectorAll(".enlarge")) {
      button.addEventListener("click", () => this.enlarge(button.closest(".dock")));
    }
    document.querySelectorAll(".divider").forEach(divide);
    this.arrange();
  }

  get narrow() {
    return NARROW.matches;
  }

  get kind() {
    return NARROW.matches ? "narrow" : MEDIUM.matches ? "medium" : "wide";
  }

  /** Calls back whenever a panel comes into sight. */
  on(panel, listener) {
    this.listeners.set(panel, listener);
  }

  dockOf(tab) {
    return this.docks.find((dock) => dock.tabs.includes(tab));
  }

  tabOf(panel) {
    return this.tabs.find((tab) => tab.dataset.panel === panel);
  }

  /** Whether a panel is in sight. */
  shown(panel) {
    const tab = this.tabOf(panel);
    if (this.narrow) return this.front === tab;
    return this.chosen.get(this.dockOf(tab)) === tab;
  }

  /** Says whether the model has use for a panel. */
  offer(panel, offered) {
    this.tabOf(panel).hidden = !offered;
  }

  /** A model without a text has nothing for the middle of the window: chart, graph and checks stand there. */
  withoutText() {
    if (this.textless) return;
    this.gather(false);
    this.textless = true;
    this.offer("source", false);
    this.docks = this.docks.filter((dock) => dock.element.id !== "dock-source");
    find("dock-source").remove();
    this.before = null;
    this.arrange();
  }

  /** Puts the docks into their columns. In two columns the state is a tab beside the source, and charts are below. */
  columns(kind) {
    const [middle, right] = [find("column-middle"), find("column-right")];
    const [state, detail] = [find("dock-state"), find("dock-detail")];
    const divider = document.querySelector("[data-divides=detail]");
    const medium = kind === "medium";
    if (this.textless) {
      if (medium) middle.prepend(state);
      else right.append(state);
      middle.append(divider, detail);
      divider.hidden = !medium;
    } else {
      this.gather(medium);
      if (medium) middle.append(divider, detail);
      else right.append(state, divider, detail);
    }
  }

  /** Makes the state a tab beside the source, or gives it a dock of its own again. */
  gather(together) {
    const state = this.docks.find((dock) => dock.element.id === "dock-state");
    const source = this.docks.find((dock) => dock.element.id === "dock-source");
    if (together === (state.tabs.length === 0)) return;
    const [from, to] = together ? [state, source] : [source, state];
    const tab = this.tabOf("state");
    from.tabs = from.tabs.filter((other) => other !== tab);
    to.tabs = [...to.tabs, tab];
    to.element.append(find("state"));
    if (!together) this.chosen.set(state, tab);
    if (this.chosen.get(source) === tab) this.chosen.set(source, source.tabs.find((other) => !other.hidden && other !== tab));
  }

  /** Brings a panel into sight. */
  show(panel, focus = false) {
    const tab = this.tabOf(panel);
    if (tab.hidden) return;
    const enlarged = document.querySelector(".dock.enlarged");
    if (enlarged && enlarged !== this.dockOf(tab).element) this.enlarge(enlarged);
    this.chosen.set(this.dockOf(tab), tab);
    this.front = tab;
    this.arrange();
    if (focus) (find(panel).querySelector(FOCUS[panel]) ?? tab).focus();
    this.listeners.get(panel)?.();
  }

  arrange() {
    const { narrow, kind } = this;
    for (const name of ["narrow", "medium", "wide"]) document.body.classList.toggle(name, name === kind);
    if (kind !== this.before) this.columns(kind);
    if (narrow)
      find("tabbar").append(
        ...["events", "state", "net", "source", "chart", "graph", "history", "check"].map((panel) => this.tabOf(panel)),
      );
    else for (const dock of this.docks) dock.strip.prepend(...dock.tabs);
    for (const dock of this.docks) {
      dock.strip.hidden = narrow;
      for (const tab of dock.tabs) {
        const shown = this.shown(tab.dataset.panel);
        find(tab.dataset.panel).hidden = !shown;
        tab.setAttribute("aria-selected", String(shown));
        tab.tabIndex = shown ? 0 : -1;
      }
      dock.element.hidden = dock.tabs.length === 0 || (narrow && this.dockOf(this.front) !== dock);
    }
    if (kind !== this.before) {
      this.before = kind;
      for (const [panel, listener] of this.listeners) if (this.shown(panel)) listener();
    }
  }

  /** Gives a dock the whole window, or takes it back; without one, that of the panel shown last if it can be enlarged. */
  enlarge(dock = document.querySelector(".dock.enlarged") ?? this.dockOf(this.front).element) {
    const button = dock.querySelector(".enlarge");
    if (!button) return this.enlarge(find("dock-detail"));
    const on = dock.classList.toggle("enlarged");
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Smaller" : "Enlarge";
    for (const [panel, listener] of this.listeners) if (this.shown(panel)) listener();
  }

  /** Arrows move along a bar of tabs. */
  key(event) {
    const tab = event.target.closest?.("[data-panel]");
    if (!tab || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const strip = (this.narrow ? this.tabs : this.dockOf(tab).tabs).filter((other) => !other.hidden);
    if (strip.length < 2) return;
    const at = strip.indexOf(tab) + (event.key === "ArrowRight" ? 1 : strip.length - 1);
    const next = strip[at % strip.length];
    this.show(next.dataset.panel);
    next.focus();
    event.preventDefault();
  }
}

/** A divider between panels can be dragged, and moved with the arrows. What it changes is the size of its neighbour:
 * of the left column, of the right one, or of a panel below. */
function divide(divider) {
  const kind = divider.dataset.divides;
  const upright = divider.getAttribute("aria-orientation") === "vertical";
  const sized = kind === "left" ? divider.previousElementSibling : divider.nextElementSibling;
  const sign = kind === "left" ? 1 : -1;
  const size = () => (upright ? sized.offsetWidth : sized.offsetHeight);
  const set = (wanted) => {
    const room = upright ? window.innerWidth : divider.parentElement.offsetHeight;
    const most = room * (upright ? 0.6 : 0.85);
    const given = Math.round(Math.max(upright ? 200 : 80, Math.min(most, wanted)));
    document.documentElement.style.setProperty(`--${kind}`, `${given}px`);
    divider.setAttribute("aria-valuenow", Math.round((given / room) * 100));
  };
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    const at = (pointer) => (upright ? pointer.clientX : pointer.clientY);
    const start = at(event);
    const before = size();
    divider.onpointermove = (move) => set(before + sign * (at(move) - start));
    divider.onpointerup = divider.onpointercancel = () => {
      divider.onpointermove = null;
    };
    event.preventDefault();
  });
  divider.addEventListener("keydown", (event) => {
    const change = { ArrowLeft: -24, ArrowRight: 24, ArrowUp: -24, ArrowDown: 24 }[event.key];
    if (!change) return;
    set(size() + sign * change);
    event.preventDefault();
  });
}
