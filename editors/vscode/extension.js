// Models in VS Code: starts the language server, and runs its lenses.
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;
let output;

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
async function ask(name, args) {
  try {
    return await client.sendRequest('workspace/executeCommand', { command: name, arguments: args });
  } catch (error) {
    vscode.window.showErrorMessage(error.message);
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
    { location: vscode.ProgressLocation.Window, title: `Scrimp checks ${property || 'the model'}` },
    () => ask('scrimp.check', property ? [uri, property] : [uri]),
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

/** The server opens the page in the browser: it lets nobody show it in a frame. */
async function explore(uri = active()) {
  if (!uri) return;
  await save(uri);
  await ask('scrimp.explore', [uri]);
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
  client = new LanguageClient('scrimp', 'Scrimp', server, { documentSelector: selector, middleware });
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
