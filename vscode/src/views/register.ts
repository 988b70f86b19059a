/** The views and their commands. */
import * as vscode from "vscode";

import { GatewayClient } from "../gateway/client";
import type { Server } from "../server/server";
import { CanvasPanel } from "./canvas";
import { FileChanges } from "./fileChanges";
import { ChatView, VIEW } from "./chat";

export function registerViews(server: Server, context: vscode.ExtensionContext): vscode.Disposable {
  const gateway = new GatewayClient(() => server.watcher.api, vscode.l10n.t);
  const changes = new FileChanges();
  const chat = new ChatView(context.extensionUri, gateway, context.workspaceState, changes);
  const canvas = new CanvasPanel(context.extensionUri, server.watcher);
  return vscode.Disposable.from(
    changes,
    chat,
    canvas,
    { dispose: () => gateway.disconnect() },
    server.watcher.listen({ state: ({ state }) => (state === "running" ? reconnect(gateway) : gateway.disconnect()) }),
    vscode.commands.registerCommand("dragoman.openChat", () => vscode.commands.executeCommand(`${VIEW}.focus`)),
    vscode.commands.registerCommand("dragoman.openCanvas", () => canvas.show()),
    vscode.commands.registerCommand("dragoman.sendSelection", () => sendSelection(chat)),
  );
}

/** Only a chat that was opened needs a connection; once it was, it is kept. */
function reconnect(gateway: GatewayClient): void {
  if (gateway.isWanted) gateway.connect();
}

async function sendSelection(chat: ChatView): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection);
  if (!editor || !text) return;
  const { start } = editor.selection;
  const place = `${vscode.workspace.asRelativePath(editor.document.uri)}:${start.line + 1}`;
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)));
  await chat.inject(`${place}\n${fence}${editor.document.languageId}\n${text}\n${fence}\n`);
}
