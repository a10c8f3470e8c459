// Making elements: the page builds its parts from data, and text is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** An HTML element; attributes that begin with `on` are listeners. */
export const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Makes these the children of an element, touching only those that are not there yet. */
export function settle(parent, children) {
  children.forEach((child, index) => {
    const there = parent.childNodes[index];
    if (there === child) return;
    if (there) there.replaceWith(child);
    else parent.append(child);
  });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}

/** The element with an id. */
export const find = (id) => document.getElementById(id);

/** A text of at most so many characters. */
export const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** "1 step", "2 steps". */
export const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
