/** This window, connected to the daemon for as long as both are there. */
import * as vscode from "vscode";

import type { DaemonWatcher } from "../daemon/daemonWatcher";
import { folderPaths } from "../server/programFinder";
import { Consent, type Answer } from "./consent";
import { handlers } from "./handlers";
import { RpcConnection, type Handler, type Json } from "./rpcConnection";
import { Proposals } from "./proposals";
import { AgentTerminals } from "./terminals";
import { debugTypes } from "../sharing/agentLaunches";
import { resolveVariable } from "./launchVariables";
import { ChannelSocket } from "./channelSocket";

const t = vscode.l10n.t;
const AGAIN_MS = 1000;
const SAID_MS = 5000;

export class Bridge implements vscode.Disposable {
  readonly consent: Consent;
  /** Others' share of what this window serves; before it connects. */
  readonly handlers: Record<string, Handler>;
  private connection: RpcConnection | undefined;
  isOpen = false;
  private isEnded = false;
  private readonly didConnect = new vscode.EventEmitter<void>();
  readonly onDidConnect = this.didConnect.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly watch: DaemonWatcher,
    memory: vscode.Memento,
  ) {
    const [proposals, terminals] = [new Proposals(), new AgentTerminals()];
    this.consent = new Consent(memory, askPerson, () => vscode.workspace.isTrusted);
    this.consent.whenLate = () =>
      void vscode.window.showInformationMessage(t("The agent is no longer waiting for this. Nothing was done."));
    this.handlers = {
      ...handlers(this.consent, proposals, terminals),
      variable: (params, signal) => resolveVariable(this.consent, params, signal),
    };
    this.subscriptions = [
      proposals,
      terminals,
      this.didConnect,
      watch.listen({ state: () => void this.connect() }),
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.notify("focused", {})),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.notify("moved", this.windowInfo())),
      vscode.extensions.onDidChange(() => this.notify("moved", this.windowInfo())),
      vscode.commands.registerCommand("dragoman.forgetPermissions", () => this.forgetPermissions()),
    ];
  }

  dispose(): void {
    this.isEnded = true;
    this.connection?.close();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  notify(method: string, params: Json): void {
    if (this.isOpen) this.connection?.notify(method, params);
  }

  async request<T>(method: string, params: Json): Promise<T | undefined> {
    return this.isOpen ? this.connection?.request<T>(method, params) : undefined;
  }

  private async forgetPermissions(): Promise<void> {
    await this.consent.forget();
    vscode.window.setStatusBarMessage(
      t("Permissions cleared: agents ask again before they do anything in this editor."),
      SAID_MS,
    );
  }

  private async connect(): Promise<void> {
    const { api, state: known } = this.watch;
    if (this.isEnded || this.connection || known.state !== "running" || !api) return;
    const wire = new ChannelSocket();
    this.connection = new RpcConnection(wire, () => this.windowInfo(), this.handlers, {
      opened: () => this.connected(),
      closed: () => this.disconnected(),
    });
    await api.openChannel("/link/editor", wire).catch(() => wire.closed());
  }

  private connected(): void {
    this.isOpen = true;
    if (vscode.window.state.focused) this.notify("focused", {}); // the last to connect need not be focused
    this.didConnect.fire();
  }

  private disconnected(): void {
    this.connection = undefined;
    this.isOpen = false;
    if (!this.isEnded) setTimeout(() => void this.connect(), AGAIN_MS);
  }

  private windowInfo(): Json {
    return {
      name: vscode.env.appName,
      folders: folderPaths(),
      features: Object.keys(this.handlers),
      debug_types: debugTypes(),
    };
  }
}

async function askPerson(words: string): Promise<Answer> {
  const answers = new Map<string, Answer>([
    [t("Allow once"), "once"],
    [t("Always allow"), "always"],
    [t("Never allow"), "never"],
  ]);
  const chosen = await vscode.window.showInformationMessage(words, ...answers.keys());
  return chosen === undefined ? undefined : answers.get(chosen);
}
