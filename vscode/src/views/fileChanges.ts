/** Shows an agent's changes in the editor's diff view, if the person allows it: once, always or never. */
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import type { ToChat } from "../gateway/messages";

type Change = Extract<ToChat, { kind: "diff" }>;

const t = vscode.l10n.t;
const SCHEME = "dragoman-change";
const KEPT_AT_MOST = 40;

export class FileChanges implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private count = 0;

  dispose(): void {
    this.registered.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  async offer(change: Change): Promise<void> {
    const settings = vscode.workspace.getConfiguration("dragoman");
    const allowed = settings.get<string>("showChanges", "ask");
    if (allowed === "never" || !vscode.workspace.isTrusted) return;
    if (allowed === "always") return this.show(change);
    const [show, always, never] = [t("Show"), t("Always"), t("Never")];
    const chosen = await vscode.window.showInformationMessage(
      notificationText(t("An agent changed {0}.", change.path)),
      show,
      always,
      never,
    );
    if (chosen === always || chosen === never)
      await settings.update("showChanges", chosen === always ? "always" : "never", vscode.ConfigurationTarget.Global);
    if (chosen === show || chosen === always) await this.show(change);
  }

  /** A file that is new is compared with nothing. */
  private async show({ path, original, modified }: Change): Promise<void> {
    const number = ++this.count;
    const [before, after] = [
      this.keep(path, `${number}-before`, original ?? ""),
      this.keep(path, `${number}-after`, modified),
    ];
    const title = original === null ? t("{0} (new)", path) : t("{0} (changed by an agent)", path);
    await vscode.commands.executeCommand("vscode.diff", before, after, title, { preview: true, preserveFocus: true });
  }

  private keep(path: string, side: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${path.replace(/^\/+/, "")}`, query: side });
    this.texts.set(uri.toString(), text);
    for (const key of this.texts.keys()) if (this.texts.size > KEPT_AT_MOST) this.texts.delete(key);
    return uri;
  }
}
