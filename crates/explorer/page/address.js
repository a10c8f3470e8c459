// Where one is, kept in the page's address, so that loading the page again does not lose the run.
//
// `#17` is the current state; `#17,8` says that the run goes from there back to state 8, again and again; a third number is
// the end of the run where the current state is another: `#12,8,17`, or without a loop `#12,,17`.

/** Writes the place on a walk into the address. */
export function remember(walk) {
  const { current, line, loop } = walk;
  const end = loop ? line[loop.to] : line.at(-1);
  const parts = [current, loop ? line[loop.from] : "", end === current ? "" : end];
  window.history.replaceState(null, "", `#${parts.join(",").replace(/,+$/, "")}`);
}

/** What the address says: the current state, and the run that it belongs to. Nothing where it says nothing. */
export function remembered() {
  const parts = window.location.hash.match(/^#(\d{1,15})(?:,(\d{0,15}))?(?:,(\d{1,15}))?$/);
  if (!parts) return null;
  const [current, loop, end] = parts.slice(1).map((text) => (text ? Number(text) : null));
  return { current, run: { node: end ?? current, loop } };
}
