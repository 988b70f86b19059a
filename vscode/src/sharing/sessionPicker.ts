/** Which of the person's sessions is lent, or taken back: shown with what agents may do in it. */
import * as vscode from "vscode";

import { sessionTitle } from "./sessionTitle";
import type { SharedSession } from "./sessionSharing";

const t = vscode.l10n.t;

/** `id` where the person chose the session itself, in the editor's own list of them. */
export async function pickSession(
  sessions: SharedSession[],
  id: string | undefined,
  isConnected: boolean,
): Promise<SharedSession | undefined> {
  if (!isConnected || !sessions.length) {
    void vscode.window.showInformationMessage(
      isConnected ? t("There is no debug session to lend.") : t("The server is not running"),
    );
    return undefined;
  }
  const named = sessions.filter(({ session }) => session.id === id || session.parentSession?.id === id);
  const rows = (named.length ? named : sessions).map((shared) => row(shared));
  const title = t("Lend a debug session to agents");
  const placeHolder = t("Agents may look, step, set values and run expressions in it");
  return (await vscode.window.showQuickPick(rows, { title, placeHolder }))?.shared;
}

function row(shared: SharedSession): vscode.QuickPickItem & { shared: SharedSession } {
  const title = sessionTitle(shared.session);
  const [lend, back] = [t("Lend {0}", title), t("Take back {0}", title)];
  return { label: shared.isLent ? `$(debug-disconnect) ${back}` : `$(debug-alt) ${lend}`, shared };
}
