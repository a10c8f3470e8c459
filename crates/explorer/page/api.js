// Talking to the server: JSON both ways, with the page marked as busy while an answer is awaited.

let underway = 0;

/** An answer of the server that says why not. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

function busy(change) {
  underway += change;
  if (underway > 0) document.body.dataset.busy = "true";
  else delete document.body.dataset.busy;
}

async function ask(address, options, quiet) {
  if (!quiet) busy(1);
  try {
    let answer;
    try {
      answer = await fetch(`api/${address}`, options);
    } catch {
      throw new Refused("The explorer does not answer. Is scrimp explore still running?", 0);
    }
    let content;
    try {
      content = await answer.json();
    } catch {
      throw new Refused(`The explorer gave an answer that cannot be read (status ${answer.status}).`, answer.status);
    }
    if (!answer.ok)
      throw new Refused(content.error ?? `The explorer refused (status ${answer.status}).`, answer.status);
    return content;
  } finally {
    if (!quiet) busy(-1);
  }
}

/** What is at an address; a quiet question does not mark the page as busy. */
export const get = (address, quiet) => ask(address, undefined, quiet);

/** The answer to something sent as JSON (an object, or a text that is JSON already). */
export const post = (address, content, quiet) =>
  ask(
    address,
    {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: typeof content === "string" ? content : JSON.stringify(content),
    },
    quiet,
  );
