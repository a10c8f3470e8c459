// The text of the model, to be changed: a field for typing that nobody sees, above lines that are numbered and coloured. What is
// wrong with the text is asked of the language itself while one types; only the model's own file is ever written.

import { get, post } from "./api.js";
import { pieces } from "./colouring.js";
import { find, make } from "./dom.js";
import { List } from "./list.js";
import { shown, where } from "./problem.js";

const HEIGHT = 20;
/** How long nothing must be typed before the text is looked at. */
const REST = 350;
/** Lines whose colours are remembered. */
const MOST_KNOWN = 50_000;

/** The editor. Of the page it needs how model and text stand (`live`), a voice (`say`, `report`), the line that the source shows
 * first (`top`), and to be told that it opens or closes (`changed`). */
export class Editor {
  constructor({ live, say, report, changed, top }) {
    this.live = live;
    this.say = say;
    this.report = report;
    this.changed = changed;
    this.top = top;
    this.panel = find("editor");
    this.field = find("editor-text");
    this.list = new List(find("editor-scroll"), HEIGHT, (index) => this.row(index));
    this.list.content.append(this.field);
    this.known = new Map();
    this.lines = [];
    this.base = null;
    this.problem = null;
    this.warnings = [];
    this.toggle = find("edit");
    this.toggle.addEventListener("click", () => (this.open ? this.close() : this.begin()).catch(report));
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => this.key(event));
    const press = (id, action) => find(id).addEventListener("click", () => action().catch(report));
    press("editor-try", () => this.tryOut());
    press("editor-save", () => this.save());
    press("editor-back", () => this.back());
    press("editor-close", () => this.close());
    live.on((status) => this.follow(status));
    window.addEventListener("beforeunload", (event) => this.dirty && event.preventDefault());
  }

  /** A model was read. */
  offer(model) {
    this.language = model.language;
    this.toggle.hidden = !model.watched || model.files.length === 0;
  }

  get open() {
    return !this.panel.hidden;
  }

  get text() {
    return this.field.value;
  }

  /** Is there something that the file does not say? */
  get dirty() {
    return this.base !== null && this.text !== this.base.text;
  }

  /** Opens the text, at a place if one is given. */
  async begin(place) {
    if (!this.open) {
      const first = this.top();
      if (!this.dirty) await this.load();
      this.panel.hidden = false;
      this.toggle.setAttribute("aria-pressed", "true");
      this.changed(true);
      this.draw();
      this.diagnose();
      if (!place?.line) this.scrollTo(first);
    }
    if (place?.line) this.goTo(place);
    this.field.focus({ preventScroll: true });
  }

  async load() {
    const answer = await get("text");
    this.base = { text: answer.text, stamp: answer.stamp };
    this.field.value = answer.trial ?? answer.text;
    this.field.setSelectionRange(0, 0);
  }

  async close() {
    this.panel.hidden = true;
    this.toggle.setAttribute("aria-pressed", "false");
    this.changed(false);
    this.toggle.focus();
  }

  /** Puts the caret at a line and column. */
  goTo({ line, column }) {
    let at = 0;
    for (let number = 1; number < line; number++) {
      const end = this.text.indexOf("\n", at);
      if (end < 0) break;
      at = end + 1;
    }
    at = Math.min(this.text.length, at + Math.max(0, (column ?? 1) - 1));
    this.field.setSelectionRange(at, at);
    this.list.reveal(line - 1);
  }

  /** Shows a line first, with the caret. */
  scrollTo(line) {
    if (line > 1) this.goTo({ line });
    requestAnimationFrame(() => this.list.scroll((line - 1) * HEIGHT));
  }

  typed() {
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.diagnose(), REST);
  }

  draw() {
    this.lines = this.text.split("\n");
    const longest = this.lines.reduce((most, line) => Math.max(most, line.length + 3 * (line.split("\t").length - 1)), 0);
    const digits = String(this.lines.length).length;
    const { scroller, content } = this.list;
    scroller.style.setProperty("--digits", String(Math.max(2, digits)));
    scroller.style.setProperty("--longest", String(longest + 2));
    content.style.minHeight = "100%";
    this.colour();
    this.list.show(this.lines.length);
    this.tell();
  }

  /** Cuts every line into coloured pieces; what was cut before is remembered. */
  colour() {
    if (this.known.size > MOST_KNOWN) this.known.clear();
    let inside = false;
    this.cut = this.lines.map((line) => {
      const key = `${inside ? 1 : 0}${line}`;
      let cut = this.known.get(key);
      if (!cut) {
        cut = pieces(line, this.language, inside);
        this.known.set(key, cut);
      }
      inside = cut.inside;
      return cut.pieces;
    });
  }

  row(index) {
    const here = (what) => what && !what.file && what.line === index + 1;
    const wrong = here(this.problem) ? this.problem : this.warnings.find(here);
    const kind = wrong && (wrong === this.problem ? "bad" : "odd");
    const text = (list) => list.map(([kind, text]) => (kind ? make("span", { class: `code-${kind}` }, text) : text));
    const cut = this.cut[index] ?? [];
    return make(
      "div",
      { class: `code${kind ? ` ${kind}` : ""}` },
      make("span", { class: "number", title: wrong?.message ?? null }, String(index + 1)),
      make("span", { class: "text" }, wrong ? marked(cut, wrong, text) : text(cut)),
    );
  }

  /** Asks what is wrong with the text as it is now. One question at a time: whatever is typed meanwhile is asked next. */
  async diagnose() {
    if (this.asking || !this.open) return;
    this.asking = true;
    const { text } = this;
    try {
      const answer = await post("diagnose", { text }, true);
      if (text === this.text) this.judge(answer);
    } catch (error) {
      this.report(error);
    } finally {
      this.asking = false;
    }
    if (text !== this.text) this.diagnose();
  }

  judge({ problem, warnings }) {
    this.problem = problem ?? null;
    this.warnings = warnings ?? [];
    this.list.show(this.lines.length);
    this.tell();
  }

  /** Says what is wrong, and how the text stands to the file. */
  tell() {
    const go = (wrong) => (wrong.line && !wrong.file ? () => this.begin(wrong) : null);
    const { problem, warnings, dirty } = this;
    const { trial } = this.live.status;
    find("editor-problems").replaceChildren(
      problem ? shown(problem, go(problem)) : "",
      ...warnings.slice(0, 5).map((warning) =>
        make(
          "p",
          { class: "odd" },
          warning.line ? make("button", { type: "button", class: "link place", onclick: go(warning) }, where(warning)) : "",
          ` ${warning.message}`,
        ),
      ),
    );
    const conflict = this.base && this.live.status.stamp && this.live.status.stamp !== this.base.stamp && dirty;
    find("editor-state").textContent = conflict
      ? "changed here, and in the file by another program"
      : dirty
        ? trial
          ? "tried, not saved"
          : "not saved"
        : "as in the file";
    find("editor-save").textContent = conflict ? "Save all the same" : "Save";
    find("editor-save").disabled = !dirty;
    find("editor-try").disabled = !dirty || Boolean(problem);
    find("editor-back").hidden = !dirty && !trial;
    this.toggle.classList.toggle("dirty", Boolean(dirty));
  }

  /** Another program has written the file: where nothing was changed here, that is what is shown. */
  follow(status) {
    if (this.open && !this.dirty && this.base && status.stamp !== this.base.stamp && !status.trial) {
      const { selectionStart } = this.field;
      this.load()
        .then(() => {
          this.field.setSelectionRange(selectionStart, selectionStart);
          this.draw();
          this.diagnose();
        })
        .catch(() => {});
    } else if (this.open) this.tell();
  }

  /** Shows the model of this text, without writing it anywhere. */
  async tryOut() {
    const answer = await post("try", { text: this.text });
    if (answer.refused) return this.judge({ problem: answer.refused });
    this.say(make("strong", {}, "The page shows the model of this text."), " The file is as it was.");
    await this.live.take(answer);
  }

  async save() {
    const { text } = this;
    const asked = this.live.status.stamp ?? this.base.stamp;
    const overwrite = asked !== this.base.stamp;
    const answer = await post("save", { text, stamp: overwrite ? asked : this.base.stamp });
    this.base = { text, stamp: answer.stamp };
    await this.live.take(answer);
    if (answer.problem) this.judge({ problem: answer.problem });
    this.tell();
    this.say(make("strong", {}, "Saved."), answer.problem ? " The text has an error; the model stays as it was." : "");
  }

  /** Forgets what was changed here. */
  async back() {
    const answer = await post("reload", {});
    await this.load();
    this.draw();
    this.diagnose();
    await this.live.take(answer);
    this.say(make("strong", {}, "The text is that of the file again."));
  }

  key(event) {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === "s") this.save().catch(this.report);
    else if (command && event.key === "Enter") {
      if (!find("editor-try").disabled) this.tryOut().catch(this.report);
    } else if (event.key === "Escape") find("editor-close").focus();
    else if (event.key === "Tab" && !event.shiftKey && !command && !event.altKey) this.write("  ");
    else if (event.key === "Enter" && !command && !event.altKey && !event.isComposing) {
      const before = this.text.slice(this.text.lastIndexOf("\n", this.field.selectionStart - 1) + 1, this.field.selectionStart);
      this.write(`\n${before.match(/^[ \t]*/)[0]}`);
    } else return;
    event.preventDefault();
  }

  /** Types a text: this way the browser can undo it. */
  write(text) {
    if (!document.execCommand("insertText", false, text)) {
      this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
      this.typed();
    }
  }
}

/** A line with the place of a problem underlined. */
function marked(cut, { column, end_column }, text) {
  const [from, until] = [column - 1, Math.max(column, (end_column ?? column + 1) - 1)];
  const parts = [[], [], []];
  let at = 0;
  for (const [kind, piece] of cut) {
    const ends = [Math.max(0, from - at), Math.max(0, until - at)];
    const cuts = [piece.slice(0, ends[0]), piece.slice(ends[0], ends[1]), piece.slice(ends[1])];
    cuts.forEach((some, index) => some && parts[index].push([kind, some]));
    at += piece.length;
  }
  const middle = parts[1].length ? text(parts[1]) : [" "];
  return [...text(parts[0]), make("mark", {}, middle), ...text(parts[2])];
}
