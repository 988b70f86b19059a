/** A person's word that what a folder holds may run, given where it is missing. */
import { realpath } from "node:fs/promises";
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import { folderPaths } from "../server/programFinder";
import type { Server } from "../server/server";

const t = vscode.l10n.t;

/** By command: if there are several folders, the person chooses one. */
export async function trustWorkspaceFolder(server: Server): Promise<void> {
  const [only, ...others] = folderPaths();
  const folder = others.length ? (await vscode.window.showWorkspaceFolderPick())?.uri.fsPath : only;
  if (folder) await trustFolder(server, folder);
}

/**
 * Whether it was given: for where the folder really lies, and no other place that it leads to by the time of the
 * answer.
 */
export async function trustFolder(server: Server, folder: string): Promise<boolean> {
  const allow = t("Allow");
  const path = await realPath(folder);
  const detail = t("Agents can then start its programs and launch configurations.");
  const chosen = await vscode.window.showWarningMessage(
    t("Let agents run the code in {0}?", notificationText(path)),
    { modal: true, detail },
    allow,
  );
  if (chosen !== allow) return false;
  if ((await realPath(path)) === path)
    return (await server.withProgram((dragoman) => dragoman.run(["trust", path]))) !== undefined;
  void vscode.window.showWarningMessage(t("{0} now points elsewhere. Nothing was trusted.", notificationText(path)));
  return false;
}

/** The path unchanged if it cannot be resolved. */
function realPath(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}

/** Only the editor can grant the trust that the editor itself requires. */
export async function offerWorkspaceTrust(): Promise<void> {
  const manage = t("Manage Workspace Trust");
  const chosen = await vscode.window.showWarningMessage(
    t("The editor does not trust this workspace, so its sessions are not lent."),
    manage,
  );
  if (chosen === manage) await vscode.commands.executeCommand("workbench.trust.manage");
}
