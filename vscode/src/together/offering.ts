/** A notification when something begins to be debugged in this window's folder, by an agent or from elsewhere. */
import * as vscode from "vscode";

import { plain } from "../bridge/plain";
import type { Row } from "../daemon/status";
import { folderPaths } from "../manage/program";
import type { Server } from "../manage/server";

const t = vscode.l10n.t;
const NOT_AGAIN_FOR_MS = 5000;
const PERSON = /^person\b/;

export function offerSessions(server: Server): vscode.Disposable {
  let shownAt = 0; // an agent may start many in a row: they would pile up, and the menu has them all
  return server.watch.listen({
    events: (rows) => {
      const last = rows.filter(isForUs).at(-1);
      if (!last || Date.now() - shownAt < NOT_AGAIN_FOR_MS) return;
      shownAt = Date.now();
      void offer(last);
    },
  });
}

/** What a person starts, or an agent through an editor, is in that editor already. */
function isForUs({ event }: Row): boolean {
  if (event.kind !== "debug.started" || !vscode.workspace.getConfiguration("dragoman").get("offerSessions", true)) return false;
  const { workspace, by, in_editor } = event.body ?? {};
  return !in_editor && folderPaths().includes(String(workspace)) && !PERSON.test(String(by));
}

async function offer({ event }: Row): Promise<void> {
  const join = t("Join");
  const words = t("A debug session began in this folder: {0}. Join it to see where it stands, and step yourself.", String(event.body?.title ?? ""));
  if ((await vscode.window.showInformationMessage(plain(words), join)) === join)
    await vscode.commands.executeCommand("dragoman.joinSession", event.session);
}
