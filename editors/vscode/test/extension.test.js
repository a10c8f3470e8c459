// The extension, loaded as VS Code loads it, with an editor and a server that only note what they are asked.
const { test } = require('node:test');
const assert = require('node:assert');
const Module = require('node:module');
const path = require('node:path');

/** Loads the extension anew; `answers` are those of the server, by command. */
function loaded(answers = {}, broken) {
  const noted = { commands: {}, errors: [], asked: [], panels: [], output: '', saved: 0, progress: [], clients: [] };
  const dirty = { uri: { toString: () => 'file:///m.pml' }, isDirty: true, save: async () => (noted.saved += 1) };
  const vscode = {
    ProgressLocation: { Notification: 15 },
    ViewColumn: { Beside: -2 },
    commands: { registerCommand: (name, run) => ((noted.commands[name] = run), { dispose() {} }) },
    workspace: { textDocuments: [dirty], getConfiguration: () => ({ get: () => '/bin/my-scrimp' }) },
    window: {
      activeTextEditor: { document: dirty },
      createOutputChannel: () => ({
        clear: () => (noted.output = ''),
        append: (text) => (noted.output += text),
        show() {},
        dispose() {},
      }),
      createWebviewPanel: (kind, title, column, options) => {
        const panel = { kind, title, column, options, webview: {}, revealed: 0 };
        panel.reveal = () => (panel.revealed += 1);
        panel.onDidDispose = (gone) => (panel.dispose = gone);
        noted.panels.push(panel);
        return panel;
      },
      showErrorMessage: (message) => noted.errors.push(message),
      withProgress: (how, work) => (noted.progress.push(how), work({}, { isCancellationRequested: false })),
    },
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { id, name, server, options, stopped: false });
      noted.clients.push(this);
    }
    async start() {
      if (broken) throw new Error(broken);
    }
    async stop() {
      this.stopped = true;
    }
    async sendRequest(method, params) {
      noted.asked.push([method, params.command, params.arguments]);
      const answer = answers[params.command];
      if (answer instanceof Error) throw answer;
      return answer;
    }
  }
  const load = Module._load;
  Module._load = (request, ...rest) => {
    if (request === 'vscode') return vscode;
    if (request === 'vscode-languageclient/node') return { LanguageClient };
    return load(request, ...rest);
  };
  try {
    const file = path.join(__dirname, '..', 'extension.js');
    delete require.cache[file];
    return { extension: require(file), noted };
  } finally {
    Module._load = load;
  }
}

test('the server is started and ended, and all commands are there', async () => {
  const { extension, noted } = loaded();
  const context = { subscriptions: [] };
  await extension.activate(context);
  const { commands } = require('../package.json').contributes;
  assert.deepEqual(Object.keys(noted.commands).sort(), commands.map(({ command }) => command).sort());
  assert.equal(context.subscriptions.length, 4);
  const [client] = noted.clients;
  assert.deepEqual(client.server, { command: '/bin/my-scrimp', args: ['lsp'] });
  assert.deepEqual(client.options.initializationOptions, { panel: true });
  const lenses = await client.options.middleware.provideCodeLenses({}, {}, async () => [
    { command: { command: 'scrimp.check' } },
    {},
  ]);
  assert.equal(lenses[0].command.command, 'scrimp.checkFile');
  assert.deepEqual(await client.options.middleware.provideCodeLenses({}, {}, async () => null), []);
  await extension.deactivate();
  assert.ok(client.stopped);
});

test('a server that is not there is told', async () => {
  const { extension, noted } = loaded({}, 'ENOENT');
  await extension.activate({ subscriptions: [] });
  assert.match(noted.errors[0], /ENOENT.*scrimp\.path/);
});

test('models are saved, checked and simulated', async () => {
  const { extension, noted } = loaded({ 'scrimp.check': 'm.pml: verified', 'scrimp.simulate': '0 initial state' });
  await extension.activate({ subscriptions: [] });
  await noted.commands['scrimp.checkFile']('file:///m.pml', 'ltl a');
  await noted.commands['scrimp.checkFile']();
  await noted.commands['scrimp.simulateFile']();
  assert.equal(noted.saved, 3);
  assert.ok(noted.progress[0].cancellable && noted.progress[0].title.includes('ltl a'));
  assert.deepEqual(noted.asked.map(([, command, args]) => [command, args.length]), [
    ['scrimp.check', 2],
    ['scrimp.check', 1],
    ['scrimp.simulate', 1],
  ]);
  assert.equal(noted.output, '0 initial state');
});

test('what the server refuses is shown', async () => {
  const { extension, noted } = loaded({ 'scrimp.check': new Error('save it first'), 'scrimp.explore': new Error('no') });
  await extension.activate({ subscriptions: [] });
  await noted.commands['scrimp.checkFile']();
  await noted.commands['scrimp.exploreFile']();
  assert.deepEqual(noted.errors, ['save it first', 'no']);
  assert.equal(noted.panels.length, 0);
});

test('the page of a model is shown in a panel, once', async () => {
  const { extension, noted } = loaded({ 'scrimp.explore': 'http://127.0.0.1:7/secret/' });
  await extension.activate({ subscriptions: [] });
  await noted.commands['scrimp.exploreFile']('file:///a%20b/m.pml');
  await noted.commands['scrimp.exploreFile']('file:///a%20b/m.pml');
  assert.equal(noted.panels.length, 1);
  const [panel] = noted.panels;
  assert.equal(panel.revealed, 1);
  assert.equal(panel.title, 'm.pml');
  assert.ok(panel.options.enableScripts);
  assert.match(panel.webview.html, /<iframe src="http:\/\/127\.0\.0\.1:7\/secret\/"/);
  assert.match(panel.webview.html, /frame-src http:\/\/127\.0\.0\.1:7;/);
  panel.dispose();
  await noted.commands['scrimp.exploreFile']('file:///a%20b/m.pml');
  assert.equal(noted.panels.length, 2);
});
