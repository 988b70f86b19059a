/** The chat in the side bar: the page's own part, relayed. */
import * as vscode from "vscode";

import type { GatewayClient } from "../gateway/client";
import type { FromChat, ToChat } from "../gateway/messages";
import { folderPaths } from "../server/programFinder";
import type { FileChanges } from "./fileChanges";
import { html } from "./html";
import { ViewPort } from "./viewPort";
import { ChatSession } from "./chatSession";

export const VIEW = "dragoman.chat";
const PLACE = "dragoman.conversation";

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private readonly port = new ViewPort<ToChat>();
  private readonly session: ChatSession;
  private readonly registered: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly gateway: GatewayClient,
    memory: vscode.Memento,
    changes: FileChanges,
  ) {
    const kept = { get: () => memory.get<string>(PLACE), set: (key: string) => void memory.update(PLACE, key) };
    this.session = new ChatSession(
      gateway,
      this.port,
      kept,
      (change) => void changes.offer(change),
      () => folderPaths()[0],
    );
    const options = { webviewOptions: { retainContextWhenHidden: true } };
    this.registered = vscode.window.registerWebviewViewProvider(VIEW, this, options);
  }

  dispose(): void {
    this.registered.dispose();
    this.session.dispose();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { webview } = view;
    const built = vscode.Uri.joinPath(this.extension, "dist", "webview");
    const at = (name: string) => String(webview.asWebviewUri(vscode.Uri.joinPath(built, name)));
    webview.options = { enableScripts: true, localResourceRoots: [built] };
    webview.onDidReceiveMessage((message: FromChat) => this.handleMessage(webview, message));
    view.onDidDispose(() => this.port.close());
    const language = vscode.env.language;
    const conversation = this.session.key;
    webview.html = html({
      title: "Dragoman",
      language,
      tag: "dragoman-chat",
      conversation,
      script: at("chat.js"),
      style: at("view.css"),
      source: webview.cspSource,
    });
  }

  /** Shows the chat, and puts a text where the person can go on with it. */
  async inject(text: string): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    this.port.post({ type: "inject_prompt", text });
  }

  private handleMessage(webview: vscode.Webview, message: FromChat): void {
    if (message.type !== "ready") return void this.session.handle(message);
    this.gateway.connect();
    this.session.start();
    this.port.open(webview);
  }
}
