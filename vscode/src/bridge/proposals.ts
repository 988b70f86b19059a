/** Changes that agents propose, each in the editor's own comparison until the person accepts, rejects or closes it. */
import * as vscode from "vscode";

import type { Json } from "./link";

const t = vscode.l10n.t;
const SCHEME = "dragoman-proposal";
const KEPT_AT_MOST = 40;

type Decision = "accepted" | "rejected" | "closed";

interface Proposal {
  path: string;
  text: string;
  isNew: boolean;
  before: vscode.Uri;
  after: vscode.Uri;
  decided: Promise<Decision>;
  decide(decision: Decision): void;
}

export class Proposals implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly open = new Map<string, Proposal>();
  private readonly subscriptions: vscode.Disposable[];
  private count = 0;

  constructor() {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.commands.registerCommand("dragoman.acceptProposal", () => this.current()?.decide("accepted")),
      vscode.commands.registerCommand("dragoman.rejectProposal", () => this.current()?.decide("rejected")),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => closed.forEach((tab) => this.closed(tab))),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** The same proposal again waits for the same decision, also for one that was made meanwhile. */
  async show(path: string, text: string, title: string): Promise<Json> {
    const key = `${path}\0${text}`;
    const proposal = this.open.get(key) ?? (await this.begin(key, path, text, title));
    const decision = await proposal.decided;
    this.open.delete(key);
    this.tellEditor();
    return { decision, is_new: proposal.isNew };
  }

  private async begin(key: string, path: string, text: string, title: string): Promise<Proposal> {
    const file = vscode.Uri.file(path);
    const original = await vscode.workspace.openTextDocument(file).then((document) => document.getText(), () => undefined);
    const number = ++this.count;
    let decide: (decision: Decision) => void = () => undefined;
    const chosen = new Promise<Decision>((settle) => (decide = settle));
    const before = original === undefined ? this.keep(path, `${number}-before`, "") : file;
    const after = this.keep(path, `${number}-after`, text);
    const proposal: Proposal = { path, text, isNew: original === undefined, before, after, decide, decided: this.carriedOut(chosen, file, text, after) };
    this.open.set(key, proposal);
    for (const oldest of this.open.keys()) if (this.open.size > KEPT_AT_MOST) this.open.delete(oldest);
    this.tellEditor();
    const name = vscode.workspace.asRelativePath(file);
    const shown = proposal.isNew ? t("{0} (proposed, new)", name) : t("{0} (proposed)", name);
    await vscode.commands.executeCommand("vscode.diff", before, after, shown, { preview: false });
    void this.ask(proposal, title || name);
    return proposal;
  }

  private async ask(proposal: Proposal, title: string): Promise<void> {
    const [accept, reject] = [t("Accept"), t("Reject")];
    const chosen = await vscode.window.showInformationMessage(t("An agent proposes a change: {0}", title), accept, reject);
    if (chosen) proposal.decide(chosen === accept ? "accepted" : "rejected");
  }

  private async carriedOut(chosen: Promise<Decision>, file: vscode.Uri, text: string, after: vscode.Uri): Promise<Decision> {
    const decision = await chosen;
    if (decision === "accepted") await write(file, text);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => shows(tab, after));
    await vscode.window.tabGroups.close(tabs, true);
    return decision;
  }

  /** That is in sight, of several the one with the focus: nothing is decided unseen. */
  private current(): Proposal | undefined {
    const { activeTabGroup, all } = vscode.window.tabGroups;
    const inSight = [activeTabGroup, ...all].flatMap(({ activeTab }) => activeTab ?? []);
    const proposals = [...this.open.values()];
    return inSight.flatMap((tab) => proposals.filter(({ after }) => shows(tab, after)))[0];
  }

  /** A key of ours: what the editor itself knows of the active one may come after the list of commands was made. */
  private tellEditor(): void {
    void vscode.commands.executeCommand("setContext", "dragoman.hasProposal", this.open.size > 0);
  }

  private closed(tab: vscode.Tab): void {
    [...this.open.values()].find(({ after }) => shows(tab, after))?.decide("closed");
  }

  private keep(path: string, side: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path, query: side });
    this.texts.set(uri.toString(), text);
    for (const key of this.texts.keys()) if (this.texts.size > 2 * KEPT_AT_MOST) this.texts.delete(key);
    return uri;
  }
}

function shows(tab: vscode.Tab, after: vscode.Uri): boolean {
  return tab.input instanceof vscode.TabInputTextDiff && tab.input.modified.toString() === after.toString();
}

/** Through the editor, so that what is open shows it and a person can undo it; saved, so that the agent sees it. */
async function write(file: vscode.Uri, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(file, { ignoreIfExists: true });
  await vscode.workspace.applyEdit(edit);
  const document = await vscode.workspace.openTextDocument(file);
  const whole = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
  const change = new vscode.WorkspaceEdit();
  change.replace(file, whole, text);
  await vscode.workspace.applyEdit(change);
  await document.save();
}
