// From the line of steps to the rows of a chart: which lane each step belongs to, which send a receive answers, and
// which steps are folded into one row.

import { count } from "./dom.js";
import { withoutName } from "./lanes.js";

/** A run of at least so many steps without messages is folded. */
const FOLDED = 2;

/** The steps of the line as items, one for each step, before any folding. They are made once for each node. */
function items(walk) {
  const out = [];
  walk.line.forEach((node, place) => {
    const entry = walk.tree.get(node);
    entry.items ??= entry.steps.map((step) => item(step, node, place));
    out.push(...entry.items);
  });
  return out;
}

function item(step, node, place) {
  const row = step.row ?? { lane: step.lane, label: step.text || step.label, kind: "step" };
  return {
    node,
    place,
    kind: row.kind,
    lane: row.lane ?? null,
    label: withoutName(row.label, row.lane),
    to: row.to,
    channel: row.channel,
    position: row.position,
    title: step.label,
    notes: notes(step, row.label),
    from: null,
    received: null,
    index: 0,
  };
}

/** What a step says besides its label. */
function notes(step, label) {
  const out = [];
  if (step.started?.length) out.push({ kind: "started", text: `starts ${step.started.join(", ")}` });
  for (const line of (step.printed ?? "").split("\n"))
    if (line.trim() && line.trim() !== label.trim()) out.push({ kind: "printed", text: `“${line.trimEnd()}”` });
  if (step.violated) out.push({ kind: "violated", text: `violated: ${step.violated}` });
  return out;
}

/** Pairs sends with receives: a message comes to stand at its position, counted from the oldest, and a receive takes the one
 * at its position. */
function pair(all) {
  const waiting = new Map();
  for (const item of all) {
    if (item.kind !== "sent" && item.kind !== "received") continue;
    if (!waiting.has(item.channel)) waiting.set(item.channel, []);
    const queue = waiting.get(item.channel);
    item.received = null;
    if (item.kind === "sent") queue.splice(item.position ?? queue.length, 0, item);
    else item.from = queue.splice(item.position ?? 0, 1)[0] ?? null;
    if (item.from) item.from.received = item;
  }
}

/** The rows of the chart and the arrows between them.
 *
 * A row has a kind: a step's (`step`, `rendezvous`, `sent`, `received`), `fold` (several steps), `note`, `loop` or `back`.
 * A loop without steps is a state in which nothing more happens, for ever. */
export function rows(walk, fold, unfolded) {
  const all = items(walk);
  pair(all);
  const loop = walk.loop;
  const out = [];
  // A message that was received was sent before.
  const messages = all.filter((item) => item.kind === "sent" || item.kind === "rendezvous").length;
  let run = [];
  const flush = () => {
    if (fold && run.length >= FOLDED && !unfolded.has(run[0].node)) {
      const lanes = [...new Set(run.map((item) => item.lane))];
      // An atomic sequence is one step, of several statements.
      const steps = new Set(run.map((item) => item.place)).size;
      const says = count(run.length, steps < run.length ? "statement" : "step");
      out.push({ ...run.at(-1), kind: "fold", lane: null, lanes, says, first: run[0], key: run[0].node });
    } else out.push(...run);
    run = [];
  };
  let looping = false;
  let looped = false;
  for (const item of all) {
    if (loop && loop.from < loop.to && !looping && item.place > loop.from) {
      flush();
      out.push({ kind: "loop", node: walk.line[loop.from], place: loop.from, lane: null });
      looping = true;
    }
    if (loop && looping && !looped && item.place > loop.to) {
      flush();
      out.push(back(walk, loop));
      looped = true;
    }
    // What was just taken is always seen by itself.
    if (run.length && (run[0].place === walk.position) !== (item.place === walk.position)) flush();
    if (item.kind === "step" && !item.notes.length) {
      run.push(item);
      continue;
    }
    flush();
    out.push(item);
    for (const note of item.notes)
      out.push({ kind: "note", note, node: item.node, place: item.place, lane: item.lane });
  }
  flush();
  if (loop && looping && !looped) out.push(back(walk, loop));
  if (loop && loop.from === loop.to)
    out.push({ kind: "loop", still: true, node: walk.line[loop.to], place: loop.to, lane: null });
  out.push(...wrong(walk));
  let said = -1;
  out.forEach((row, index) => {
    row.index = index;
    if (["note", "loop", "back"].includes(row.kind)) return;
    row.number = numbers(row.first?.place ?? row.place, row.place, said);
    said = row.place;
  });
  return { rows: out, arrows: arrows(out), messages };
}

/** The steps of a row, as they stand beside it: nothing where the row before has said them. */
function numbers(first, last, said) {
  if (first === last) return last === said ? "" : String(last);
  const both = `${first}–${last}`;
  return both.length > 5 ? String(last) : both;
}

/** What is wrong with the last state of the line: what should hold does not, something would end in a fault, or nothing more
 * can happen. */
function wrong(walk) {
  const node = walk.line.at(-1);
  const place = walk.line.length - 1;
  return (walk.tree.get(node)?.wrong ?? []).map(({ lane, text, good }) => ({
    kind: "note",
    note: good ? { kind: "shown", text: `✓ ${text}` } : { kind: "violated", text: `✗ ${text}` },
    node,
    place,
    lane: lane ?? null,
  }));
}

const back = (walk, loop) => ({ kind: "back", node: walk.line[loop.from], place: loop.to, to: loop.from, lane: null });

function arrows(out) {
  const list = [];
  for (const row of out) {
    if (row.kind === "rendezvous" && row.to !== undefined && row.to !== null) {
      list.push({
        kind: "rendezvous",
        from: row.index,
        until: row.index,
        lane: row.lane,
        to: row.to,
        label: row.label,
        row,
      });
    } else if (row.kind === "received" && row.from) {
      list.push({
        kind: "message",
        from: row.from.index,
        until: row.index,
        lane: row.from.lane,
        to: row.lane,
        label: row.from.label,
        row,
      });
    }
  }
  return list;
}
