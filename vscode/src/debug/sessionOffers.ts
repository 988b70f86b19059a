/** A notification when something begins to be debugged in this window's folder, by an agent or from elsewhere. */
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import type { FeedRow } from "../daemon/status";
import { folderPaths } from "../server/programFinder";
import type { Server } from "../server/server";

const t = vscode.l10n.t;
const NOT_AGAIN_FOR_MS = 5000;
const PERSON = /^person\b/;

export function offerSessions(server: Server): vscode.Disposable {
  let shownAt = 0; // an agent may start many in a row: they would pile up, and the menu has them all
  return server.watcher.listen({
    events: (rows) => {
      const last = rows.filter(isInThisWorkspace).at(-1);
      if (!last || Date.now() - shownAt < NOT_AGAIN_FOR_MS) return;
      shownAt = Date.now();
      void offerSession(last);
    },
  });
}

/** A session that was started in an editor, by the person or by an agent, is already in that editor. */
function isInThisWorkspace({ event }: FeedRow): boolean {
  if (event.kind !== "debug.started" || !vscode.workspace.getConfiguration("dragoman").get("offerSessions", true))
    return false;
  const { workspace, by, in_editor } = event.body ?? {};
  return !in_editor && folderPaths().includes(String(workspace)) && !PERSON.test(String(by));
}

async function offerSession({ event }: FeedRow): Promise<void> {
  const join = t("Join");
  const words = t(
    "A debug session started in this folder: {0}. Join it to see its state and to step through it.",
    String(event.body?.title ?? ""),
  );
  if ((await vscode.window.showInformationMessage(notificationText(words), join)) === join)
    await vscode.commands.executeCommand("dragoman.joinSession", event.session);
}
