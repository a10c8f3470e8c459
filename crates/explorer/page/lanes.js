// The processes of the model as lanes: each has a name, a short badge and a colour, the same everywhere on the page.

import { make } from "./dom.js";

const COLOURS = 8;
const names = [];
const badges = [];

/** A short sign for a name: its capitals or first letter, and the number at its end. */
function sign(name) {
  const number = name.match(/(\d+)\D*$/)?.[1] ?? "";
  const letters = name.replace(/[^A-Za-z]/g, "");
  return (letters.charAt(0).toUpperCase() || "P") + number;
}

/** Says what a lane is called. Lanes may appear while the model runs, and a place can be taken by another process. */
export function name(lane, text) {
  if (lane === null || lane === undefined || names[lane] === text) return;
  names[lane] = text;
  let badge = sign(text);
  if (badges.some((other, place) => other === badge && place !== lane)) {
    const letters = text.replace(/[^A-Za-z]/g, "");
    const longer = letters.slice(0, 2) + badge.slice(1);
    badge = badges.includes(longer) || longer.length < 2 ? `${badge.charAt(0)}${lane}` : longer;
  }
  badges[lane] = badge.slice(0, 5);
}

/** Forgets every lane: another model was read. */
export function reset(texts) {
  names.length = 0;
  badges.length = 0;
  texts.forEach((text, lane) => text !== null && name(lane, text));
}

/** The name of a lane. */
export const nameOf = (lane) => names[lane] ?? `process ${lane}`;

/** The lanes known so far. */
export const known = () => [...names.keys()].filter((lane) => names[lane] !== undefined);

/** The class that gives the colour of a lane. */
export const colour = (lane) => (lane === null || lane === undefined ? "lane-none" : `lane-${lane % COLOURS}`);

/** The short sign of a lane. */
export const badgeOf = (lane) => badges[lane] ?? String(lane);

/** The sign of a lane as an element. */
export const badge = (lane) => make("span", { class: `badge ${colour(lane)}`, title: nameOf(lane) }, badgeOf(lane));

/** A label without the name of its process before it, which the badge says already. */
export function withoutName(label, lane) {
  if (lane === null || lane === undefined) return label;
  const start = `${nameOf(lane)}: `;
  return label.startsWith(start) ? label.slice(start.length) : label;
}
