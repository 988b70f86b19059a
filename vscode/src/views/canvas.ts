/** The canvas as a panel beside the editors: the page's own part, relayed. */
import * as vscode from "vscode";

import type { FeedRow } from "../daemon/status";
import type { DaemonWatcher } from "../daemon/daemonWatcher";
import type { FromCanvas, ToCanvas } from "../gateway/messages";
import { CanvasSession } from "./canvasSession";
import { html } from "./html";
import { ViewPort } from "./viewPort";
import { Questions } from "./questions";

const t = vscode.l10n.t;
const KIND = "dragoman.canvas";

export class CanvasPanel implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private readonly port = new ViewPort<ToCanvas>();
  private readonly session: CanvasSession;
  private readonly questions: Questions;
  private readonly subscriptions: vscode.Disposable[];
  private isOffered = false;

  constructor(
    private readonly extension: vscode.Uri,
    watch: DaemonWatcher,
  ) {
    this.session = new CanvasSession(() => watch.api, this.port, t);
    const confirm = (words: string) => void vscode.window.showInformationMessage(words);
    this.questions = new Questions(
      () => watch.api,
      t,
      (words) => this.announce(words),
      confirm,
    );
    let wasRunning = false;
    this.subscriptions = [
      vscode.window.registerWebviewPanelSerializer(KIND, this),
      watch.listen({
        state: ({ state }) => {
          const isRunning = state === "running";
          if (isRunning !== wasRunning && this.panel) void this.session.start();
          if (isRunning && !wasRunning) void this.questions.readNew();
          wasRunning = isRunning;
        },
        events: (rows) =>
          this.handleEvents(rows.map(({ event }) => event).filter(({ kind }) => kind.startsWith("canvas."))),
      }),
    ];
  }

  dispose(): void {
    this.panel?.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private handleEvents(events: FeedRow["event"][]): void {
    if (!events.length) return;
    if (this.panel) void this.session.read();
    void this.questions.handleEvents(events).then((isQuestion) => {
      if (!isQuestion && !this.panel && events.some(isNew)) void this.offer();
    });
  }

  private async announce(words: string): Promise<void> {
    const answer = t("Answer");
    if ((await vscode.window.showInformationMessage(words, answer)) === answer) this.show();
  }

  /** Without an open panel, a notice shows that there is a drawing or a question; one notice at a time. */
  private async offer(): Promise<void> {
    if (this.isOffered) return;
    this.isOffered = true;
    const open = t("Open the canvas");
    const chosen = await vscode.window.showInformationMessage(t("An agent drew something for you."), open);
    this.isOffered = false;
    if (chosen === open) this.show();
  }

  show(): void {
    if (this.panel) return this.panel.reveal(undefined, true);
    const showOptions = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    this.fill(vscode.window.createWebviewPanel(KIND, t("Canvas"), showOptions, { retainContextWhenHidden: true }));
  }

  /** A window that is opened again brings its panel back. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.fill(panel);
  }

  private fill(panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    const built = vscode.Uri.joinPath(this.extension, "dist", "webview");
    const at = (name: string) => String(webview.asWebviewUri(vscode.Uri.joinPath(built, name)));
    this.panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media", "icon.png");
    webview.options = { enableScripts: true, localResourceRoots: [built] };
    webview.onDidReceiveMessage((message: FromCanvas) => this.handleMessage(webview, message));
    panel.onDidDispose(() => {
      if (this.panel !== panel) return;
      this.panel = undefined;
      this.port.close();
    });
    const language = vscode.env.language;
    webview.html = html({
      title: "Dragoman",
      language,
      tag: "dragoman-canvas",
      script: at("canvas.js"),
      style: at("view.css"),
      source: webview.cspSource,
    });
  }

  private handleMessage(webview: vscode.Webview, message: FromCanvas): void {
    if (message.type !== "ready") return void this.session.handle(message);
    this.port.open(webview);
    void this.session.start();
  }
}

/** A new surface. Changes of an existing one need no notice. */
function isNew({ kind, body }: FeedRow["event"]): boolean {
  return kind === "canvas.surface_updated" && Object.values(body?.versions ?? {}).includes(1);
}
