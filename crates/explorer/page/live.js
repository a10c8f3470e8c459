// The model as its files change: asks now and then whether it has become another one, and takes the run along.

import { get, post } from "./api.js";
import { find, make } from "./dom.js";
import { shown } from "./problem.js";

/** How often it is asked, and how much more seldom where nobody looks. */
const PAUSE = 600;
const HIDDEN = 5;

/** Watches the model. Of the page it needs the walk, a way to show another model (`renew`, which gets what became of the
 * run), and a way to the editor at a place (`edit`). */
export class Live {
  constructor(walk, { renew, edit }) {
    this.walk = walk;
    this.renew = renew;
    this.edit = edit;
    this.version = 0;
    this.status = {};
    this.listeners = [];
    this.banner = find("source-problem");
    this.said = null;
  }

  /** A model was read: from now on it is watched. */
  begin(model) {
    this.version = model.version;
    if (!model.watched || this.watching) return;
    this.watching = true;
    let turn = 0;
    const look = () => {
      turn++;
      const asked = !document.hidden || turn % HIDDEN === 0;
      (asked ? this.look() : Promise.resolve()).catch(() => {}).finally(() => setTimeout(look, PAUSE));
    };
    setTimeout(look, PAUSE);
  }

  /** Calls back with how model and text stand. */
  on(listener) {
    this.listeners.push(listener);
  }

  async look() {
    await this.take(await get("watch", true));
  }

  /** How it stands: after a question, or as an answer of the editor. */
  async take(status) {
    this.status = status;
    if (status.version !== this.version) {
      this.version = status.version;
      await this.walk.queue(() => this.carry());
    }
    this.tell();
    for (const listener of this.listeners) listener(status);
  }

  /** Goes the run in the model that it has become, as far as it leads. */
  async carry() {
    const { walk } = this;
    const end = walk.line.at(-1);
    const loop = walk.loop ? walk.line[walk.loop.from] : null;
    let carried = null;
    if (end !== undefined) {
      try {
        carried = await post("carry", { node: end, at: walk.current, loop });
      } catch (error) {
        if (error.status !== 404) throw error;
      }
    }
    await this.renew(carried);
  }

  /** Says above the source what is wrong with the text in the file, while the model before it stays. */
  tell() {
    const { problem } = this.status;
    const text = JSON.stringify(problem ?? null);
    if (text === this.said) return;
    this.said = text;
    this.banner.hidden = !problem;
    find("broken").hidden = !problem;
    if (!problem) return this.banner.replaceChildren();
    const here = problem.line && !problem.file;
    this.banner.replaceChildren(
      shown(problem, here ? () => this.edit(problem) : null),
      make("p", { class: "stays" }, "The file has this error; the page shows the model as it was before."),
    );
  }
}
