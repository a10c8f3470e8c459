// Models in VS Code: starts the language server, and runs its lenses.
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;
let output;
/** Panels that show pages, by their addresses. */
const panels = new Map();

/** The command, as the settings name it. */
function command() {
  return vscode.workspace.getConfiguration('scrimp').get('path') || 'scrimp';
}

/** The file of the editor that is looked at. */
function active() {
  const editor = vscode.window.activeTextEditor;
  return editor && editor.document.uri.toString();
}

/** Asks the server to do what a lens stands for; what it says in vain is shown. */
async function ask(name, args, token) {
  try {
    return await client.sendRequest('workspace/executeCommand', { command: name, arguments: args }, token);
  } catch (error) {
    if (!token || !token.isCancellationRequested) vscode.window.showErrorMessage(error.message);
  }
}

async function save(uri) {
  const document = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri);
  if (document && document.isDirty) await document.save();
}

async function check(uri = active(), property) {
  if (!uri) return;
  await save(uri);
  await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: `Scrimp checks ${property || 'the model'}`,
      cancellable: true,
    },
    (progress, token) => ask('scrimp.check', property ? [uri, property] : [uri], token),
  );
}

async function simulate(uri = active()) {
  if (!uri) return;
  await save(uri);
  const run = await ask('scrimp.simulate', [uri]);
  if (!run) return;
  output.clear();
  output.append(run);
  output.show(true);
}

/** What a panel shows: the page of the model, which its server lets nobody else show. */
function framed(address) {
  const { origin } = new URL(address);
  const source = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<!doctype html>
<html>
<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; frame-src ${origin}; style-src 'unsafe-inline'">
<style>html, body, iframe { width: 100%; height: 100%; margin: 0; padding: 0; border: 0; overflow: hidden; }</style>
</head>
<body><iframe src="${source}" title="Scrimp"></iframe></body>
</html>`;
}

async function explore(uri = active(), property) {
  if (!uri) return;
  await save(uri);
  const address = await ask('scrimp.explore', property ? [uri, property] : [uri]);
  if (!address) return;
  const open = panels.get(address);
  if (open) return open.reveal();
  const name = decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1));
  const panel = vscode.window.createWebviewPanel('scrimp.explore', name, vscode.ViewColumn.Beside, {
    enableScripts: true,
    retainContextWhenHidden: true,
  });
  panels.set(address, panel);
  panel.onDidDispose(() => panels.delete(address));
  panel.webview.html = framed(address);
}

async function activate(context) {
  output = vscode.window.createOutputChannel('Scrimp runs');
  const selector = ['promela', 'dve', 'scrimp-properties'].map((language) => ({ scheme: 'file', language }));
  const middleware = {
    // Lenses are commands of this file, not of the server.
    provideCodeLenses: async (document, token, next) => {
      const lenses = (await next(document, token)) || [];
      for (const lens of lenses) if (lens.command) lens.command.command += 'File';
      return lenses;
    },
  };
  const server = { command: command(), args: ['lsp'] };
  // Runs and pages are shown from here.
  const initializationOptions = { panel: true };
  client = new LanguageClient('scrimp', 'Scrimp', server, {
    documentSelector: selector,
    middleware,
    initializationOptions,
  });
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand('scrimp.checkFile', check),
    vscode.commands.registerCommand('scrimp.simulateFile', simulate),
    vscode.commands.registerCommand('scrimp.exploreFile', explore),
  );
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`Scrimp cannot be started (${error.message}). Is ${command()} on your path? See the setting scrimp.path.`);
  }
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
