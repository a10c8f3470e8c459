// The colours: what stands where, by the engine that VS Code has.
const { test } = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { loadWASM, OnigScanner, OnigString } = require('vscode-oniguruma');
const { Registry, parseRawGrammar, INITIAL } = require('vscode-textmate');

async function grammar(name) {
  const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  await loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).catch(() => {});
  const file = path.join(__dirname, '..', 'syntaxes', `${name}.json`);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new OnigScanner(patterns),
      createOnigString: (text) => new OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, 'utf8'), file),
  });
  return registry.loadGrammar(`source.${name}`);
}

/** The scope of the first token with this text. */
async function scopes(name, text) {
  const rules = await grammar(name);
  const found = {};
  let state = INITIAL;
  for (const line of text.split('\n')) {
    const result = rules.tokenizeLine(line, state);
    for (const token of result.tokens) {
      const word = line.slice(token.startIndex, token.endIndex).trim();
      found[word] ??= token.scopes.at(-1);
    }
    state = result.ruleStack;
  }
  return found;
}

test('Promela', async () => {
  const found = await scopes('promela', '#define N 3\n/* a\nb */ active proctype Reader() { byte x; x = N; goto end }\nprintf("hi");');
  assert.equal(found.define, 'keyword.control.directive.promela');
  assert.equal(found.Reader, 'entity.name.function.promela');
  assert.equal(found.byte, 'storage.type.promela');
  assert.equal(found.goto, 'keyword.control.promela');
  assert.equal(found['3'], 'constant.numeric.promela');
  assert.ok(found['b'].startsWith('comment') || found['b */'].startsWith('comment'));
});

test('DVE', async () => {
  const found = await scopes('dve', 'process P { state a; init a; trans a -> a { guard not x; }; } // end');
  assert.equal(found.P, 'entity.name.function.dve');
  assert.equal(found.guard, 'keyword.control.dve');
  assert.equal(found.not, 'keyword.operator.word.dve');
});

test('what is declared is there', () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
  const code = fs.readFileSync(path.join(__dirname, '..', 'extension.js'), 'utf8');
  for (const { command } of manifest.contributes.commands) assert.ok(code.includes(`'${command}'`), command);
  for (const { path: file } of manifest.contributes.grammars) assert.ok(fs.existsSync(path.join(__dirname, '..', file)));
});
