/** Changes that agents propose, each in the editor's own comparison until the person accepts, rejects or closes it. */
import * as vscode from "vscode";

import { viewColumnOf } from "./viewColumn";
import { RpcError, type Json } from "./rpcConnection";
import { notificationText } from "./notificationText";

const t = vscode.l10n.t;
const SCHEME = "dragoman-proposal";
const KEPT_AT_MOST = 40;
const KEPT_FOR_MS = 300_000;

type Decision = "accepted" | "rejected" | "closed";

/** The content that an agent proposes for a file. */
export interface ProposedText {
  path: string;
  text: string;
  title: string;
  by: string;
}

interface Proposal {
  file: vscode.Uri;
  text: string;
  isNew: boolean;
  after: vscode.Uri;
  decided: Promise<Decision>;
  isDecided: boolean;
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

  /** A repeated proposal waits for the same decision, even if nobody waited when it was made. */
  async show(proposed: ProposedText, signal: AbortSignal): Promise<Json> {
    const key = `${proposed.path}\0${proposed.text}`;
    const proposal = this.open.get(key) ?? this.create(key, proposed);
    try {
      return { decision: await proposal.decided, is_new: proposal.isNew };
    } finally {
      if (!signal.aborted) this.open.delete(key);
      this.updateContext();
    }
  }

  /** At once, so that the same proposal a moment later is this one. */
  private create(key: string, proposed: ProposedText): Proposal {
    const { path, text } = proposed;
    const { promise: chosen, resolve: decide } = Promise.withResolvers<Decision>();
    const file = vscode.Uri.file(path);
    const after = this.storeText(path, `${++this.count}-after`, text);
    const proposal: Proposal = {
      file,
      text,
      after,
      decide,
      isNew: false,
      isDecided: false,
      decided: Promise.resolve("closed"),
    };
    proposal.decided = this.decide(proposal, chosen, proposed).finally(() => this.expireLater(key, proposal));
    this.open.set(key, proposal);
    for (const oldest of this.open.keys()) if (this.open.size > KEPT_AT_MOST) this.open.delete(oldest);
    this.updateContext();
    return proposal;
  }

  /** A repeated request gets the same decision; much later, the same text is a new proposal. */
  private expireLater(key: string, proposal: Proposal): void {
    proposal.isDecided = true;
    setTimeout(() => this.open.get(key) === proposal && this.open.delete(key), KEPT_FOR_MS).unref();
  }

  private async decide(proposal: Proposal, chosen: Promise<Decision>, proposed: ProposedText): Promise<Decision> {
    await this.compare(proposal, proposed);
    const decision = await chosen;
    try {
      if (decision === "accepted") await write(proposal.file, proposal.text);
    } finally {
      const tabs = vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .filter((tab) => shows(tab, proposal.after));
      await vscode.window.tabGroups.close(tabs, true);
    }
    return decision;
  }

  private async compare(proposal: Proposal, { title, by }: ProposedText): Promise<void> {
    const { file, after } = proposal;
    proposal.isNew = await vscode.workspace.openTextDocument(file).then(
      () => false,
      () => true,
    );
    const before = proposal.isNew ? this.storeText(file.path, `${this.count}-before`, "") : file;
    const name = vscode.workspace.asRelativePath(file);
    const shown = proposal.isNew ? t("{0} (proposed, new)", name) : t("{0} (proposed)", name);
    await vscode.commands.executeCommand("vscode.diff", before, after, shown, {
      preview: false,
      viewColumn: viewColumnOf(file),
    });
    void this.ask(proposal, t("{0} proposes a change: {1}", by, title || name));
  }

  private async ask(proposal: Proposal, words: string): Promise<void> {
    const [accept, reject] = [t("Accept"), t("Reject")];
    const chosen = await vscode.window.showInformationMessage(notificationText(words), accept, reject);
    if (chosen) proposal.decide(chosen === accept ? "accepted" : "rejected");
  }

  /** That is in sight, of several the one with the focus: nothing is decided unseen. */
  private current(): Proposal | undefined {
    const { activeTabGroup, all } = vscode.window.tabGroups;
    const inSight = [activeTabGroup, ...all].flatMap(({ activeTab }) => activeTab ?? []);
    const proposals = [...this.open.values()];
    return inSight.flatMap((tab) => proposals.filter(({ after }) => shows(tab, after)))[0];
  }

  /** A key of ours: what the editor itself knows of the active one may come after the list of commands was made. */
  private updateContext(): void {
    void vscode.commands.executeCommand(
      "setContext",
      "dragoman.hasProposal",
      [...this.open.values()].some(({ isDecided }) => !isDecided),
    );
  }

  private closed(tab: vscode.Tab): void {
    [...this.open.values()].find(({ after }) => shows(tab, after))?.decide("closed");
  }

  private storeText(path: string, side: string, text: string): vscode.Uri {
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
  const made = new vscode.WorkspaceEdit();
  made.createFile(file, { ignoreIfExists: true });
  if (!(await vscode.workspace.applyEdit(made))) throw notWritten(file);
  const document = await vscode.workspace.openTextDocument(file);
  const whole = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
  const change = new vscode.WorkspaceEdit();
  change.replace(file, whole, text);
  if (!(await vscode.workspace.applyEdit(change)) || !(await document.save())) throw notWritten(file);
}

function notWritten(file: vscode.Uri): RpcError {
  return new RpcError(
    "not_written",
    `the person accepted it, and ${vscode.workspace.asRelativePath(file)} could not be written`,
  );
}
