// Light colouring of source lines: comments, strings, numbers and the words of the language.

const WORDS = {
  Promela:
    "active assert atomic bit bool break byte chan d_proctype d_step do else empty enabled end eval fi for full goto hidden if in init inline int len ltl mtype nempty never nfull od of pid printf printm priority proctype provided return run select short show skip timeout trace typedef unless unsigned xr xs true false progress accept",
  DVE: "process state init trans guard effect sync async system property byte int channel commit accept assert const true false and or not imply",
};

const TOKEN =
  /(\/\/.*$|#(?=\s*(?:define|include|if|ifdef|ifndef|else|endif|undef)\b)\s*\w+)|(\/\*)|("(?:[^"\\]|\\.)*"?)|([A-Za-z_]\w*)|(\d+)/g;
const XML = /(<!--.*?-->)|(<\/?[\w:.-]+|\/?>|\?>)|("[^"]*")/g;

/** Cuts a line into pieces `[kind, text]`, and says whether it ends inside a comment. */
export function pieces(line, language, inside) {
  const out = [];
  const put = (kind, text) => text && out.push([kind, text]);
  let at = 0;
  if (inside) {
    const end = line.indexOf("*/");
    if (end < 0) return { pieces: [["comment", line]], inside: true };
    put("comment", line.slice(0, end + 2));
    at = end + 2;
  }
  if (language === "Petri net" || /^\s*<[?!/\w]/.test(line)) {
    for (const match of line.slice(at).matchAll(XML)) {
      put("", line.slice(at, match.index));
      put(match[1] ? "comment" : match[2] ? "word" : "text", match[0]);
      at = match.index + match[0].length;
    }
    put("", line.slice(at));
    return { pieces: out, inside: false };
  }
  const words = vocabulary(language);
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(line); match; match = TOKEN.exec(line)) {
    put("", line.slice(at, match.index));
    at = TOKEN.lastIndex;
    if (match[2]) {
      const end = line.indexOf("*/", at);
      put("comment", line.slice(match.index, end < 0 ? undefined : end + 2));
      if (end < 0) return { pieces: out, inside: true };
      at = TOKEN.lastIndex = end + 2;
      continue;
    }
    const kind = match[1]
      ? match[1].startsWith("#")
        ? "word"
        : "comment"
      : match[3]
        ? "text"
        : match[5]
          ? "number"
          : words.has(match[4])
            ? "word"
            : "";
    put(kind, match[0]);
  }
  put("", line.slice(at));
  return { pieces: out, inside: false };
}

const vocabularies = new Map();

function vocabulary(language) {
  if (!vocabularies.has(language)) vocabularies.set(language, new Set((WORDS[language] ?? "").split(" ")));
  return vocabularies.get(language);
}
