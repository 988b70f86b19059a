/** This window, connected to the daemon for as long as both are there. */
import * as vscode from "vscode";

import type { Watch } from "../daemon/watch";
import { folderPaths } from "../manage/program";
import { Consent, type Answer } from "./consent";
import { handlers } from "./handlers";
import { Link, type Handler, type Json } from "./link";
import { Proposals } from "./proposals";
import { Terminals } from "./terminals";
import { debugTypes } from "../sharing/starting";
import { variable } from "./variables";
import { Wire } from "./wire";

const t = vscode.l10n.t;
const AGAIN_MS = 1000;
const SAID_MS = 5000;

export class Bridge implements vscode.Disposable {
  readonly consent: Consent;
  /** Others' share of what this window serves; before it connects. */
  readonly serves: Record<string, Handler>;
  private link: Link | undefined;
  isOpen = false;
  private isEnded = false;
  private readonly opened = new vscode.EventEmitter<void>();
  readonly onDidConnect = this.opened.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly watch: Watch,
    memory: vscode.Memento,
  ) {
    const [proposals, terminals] = [new Proposals(), new Terminals()];
    this.consent = new Consent(memory, ask, () => vscode.workspace.isTrusted);
    this.consent.whenLate = () => void vscode.window.showInformationMessage(t("The agent no longer waits for this; nothing was done."));
    this.serves = { ...handlers(this.consent, proposals, terminals), variable: (params, signal) => variable(this.consent, params, signal) };
    this.subscriptions = [
      proposals,
      terminals,
      this.opened,
      watch.listen({ known: () => void this.connect() }),
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.tell("focused", {})),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.tell("moved", this.about())),
      vscode.extensions.onDidChange(() => this.tell("moved", this.about())),
      vscode.commands.registerCommand("dragoman.forgetPermissions", () => this.forget()),
    ];
  }

  dispose(): void {
    this.isEnded = true;
    this.link?.close();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  tell(method: string, params: Json): void {
    if (this.isOpen) this.link?.tell(method, params);
  }

  async ask<T>(method: string, params: Json): Promise<T | undefined> {
    return this.isOpen ? this.link?.ask<T>(method, params) : undefined;
  }

  private async forget(): Promise<void> {
    await this.consent.forget();
    vscode.window.setStatusBarMessage(t("Forgotten: agents ask again before they do anything in this editor."), SAID_MS);
  }

  private async connect(): Promise<void> {
    const { api, known } = this.watch;
    if (this.isEnded || this.link || known.state !== "running" || !api) return;
    const wire = new Wire();
    this.link = new Link(wire, () => this.about(), this.serves, { opened: () => this.begun(), closed: () => this.lost() });
    await api.dial("/link/editor", wire).catch(() => wire.closed());
  }

  private begun(): void {
    this.isOpen = true;
    if (vscode.window.state.focused) this.tell("focused", {}); // who connects last is not who is looked at
    this.opened.fire();
  }

  private lost(): void {
    this.link = undefined;
    this.isOpen = false;
    if (!this.isEnded) setTimeout(() => void this.connect(), AGAIN_MS);
  }

  private about(): Json {
    return { name: vscode.env.appName, folders: folderPaths(), features: Object.keys(this.serves), debug_types: debugTypes() };
  }
}

async function ask(words: string): Promise<Answer> {
  const answers = new Map<string, Answer>([[t("Allow once"), "once"], [t("Always allow"), "always"], [t("Never allow"), "never"]]);
  const chosen = await vscode.window.showInformationMessage(words, ...answers.keys());
  return chosen === undefined ? undefined : answers.get(chosen);
}
