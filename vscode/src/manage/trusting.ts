/** A person's word that what a folder holds may run, given where it is missing. */
import { realpath } from "node:fs/promises";
import * as vscode from "vscode";

import { plain } from "../bridge/plain";
import { folderPaths } from "./program";
import type { Server } from "./server";

const t = vscode.l10n.t;

/** By command: of several folders, the one that is chosen. */
export async function trustOwnFolder(server: Server): Promise<void> {
  const [only, ...others] = folderPaths();
  const folder = others.length ? (await vscode.window.showWorkspaceFolderPick())?.uri.fsPath : only;
  if (folder) await trustFolder(server, folder);
}

/** Whether it was given: for where the folder really lies, and no other place that it leads to by the time of the answer. */
export async function trustFolder(server: Server, folder: string): Promise<boolean> {
  const allow = t("Allow");
  const place = await realPlace(folder);
  const detail = t("Programs and launch configurations in it are started when an agent asks for it.");
  const chosen = await vscode.window.showWarningMessage(t("Let agents run what {0} holds?", plain(place)), { modal: true, detail }, allow);
  if (chosen !== allow) return false;
  if ((await realPlace(place)) === place) return (await server.with((dragoman) => dragoman.run(["trust", place]))) !== undefined;
  void vscode.window.showWarningMessage(t("{0} leads elsewhere by now. Nothing was trusted.", plain(place)));
  return false;
}

/** As it is where it cannot be looked at. */
function realPlace(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}

/** What the editor itself withholds is the editor's to give. */
export async function offerWorkspaceTrust(): Promise<void> {
  const manage = t("Manage Workspace Trust");
  const chosen = await vscode.window.showWarningMessage(t("The editor does not trust this workspace, so its sessions are not lent."), manage);
  if (chosen === manage) await vscode.commands.executeCommand("workbench.trust.manage");
}
