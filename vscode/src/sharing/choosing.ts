/** Which of the person's sessions is lent, or taken back: shown with what agents may do in it. */
import * as vscode from "vscode";

import { titleOf } from "./names";
import type { Shared } from "./sharing";

const t = vscode.l10n.t;

/** `id` where the person chose the session itself, in the editor's own list of them. */
export async function chosen(lives: Shared[], id: string | undefined, isConnected: boolean): Promise<Shared | undefined> {
  if (!isConnected || !lives.length) {
    void vscode.window.showInformationMessage(isConnected ? t("You debug nothing right now that could be lent.") : t("The server is not running"));
    return undefined;
  }
  const named = lives.filter(({ session }) => session.id === id || session.parentSession?.id === id);
  const rows = (named.length ? named : lives).map((shared) => row(shared));
  const title = t("Lend a debug session to agents");
  const placeHolder = t("Agents may look, step, set values and run expressions in it");
  return (await vscode.window.showQuickPick(rows, { title, placeHolder }))?.shared;
}

function row(shared: Shared): vscode.QuickPickItem & { shared: Shared } {
  const title = titleOf(shared.session);
  const [lend, back] = [t("Lend {0}", title), t("Take back {0}", title)];
  return { label: shared.isLent ? `$(debug-disconnect) ${back}` : `$(debug-alt) ${lend}`, shared };
}
