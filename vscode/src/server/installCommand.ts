/** The message if no `dragoman` is found, and its installation into an environment of our own. */
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import { InstallError, install } from "../daemon/installation";
import type { Server } from "./server";

const t = vscode.l10n.t;

export async function offerInstallation(server: Server): Promise<void> {
  const { configuredPath: named } = server.programs;
  const [put, choose] = [t("Install"), t("Choose a path…")];
  const words = named
    ? t("The setting dragoman.path names {0}, which is not dragoman.", notificationText(named))
    : t("dragoman was not found in this workspace's environment, on PATH, or with pipx or uv.");
  const chosen = await vscode.window.showWarningMessage(words, ...(named ? [choose] : [put, choose]));
  if (chosen === put) await installManaged(server);
  if (chosen === choose) await vscode.commands.executeCommand("workbench.action.openSettings", "dragoman.path");
}

/** Into the extension's own environment, which affects nothing else. */
export async function installManaged(server: Server): Promise<void> {
  const wanted = await source();
  if (!wanted) return;
  const { log, programs } = server;
  const { managedEnvironment: own, requirements } = programs;
  const title = t("Installing dragoman into its own environment");
  const location = vscode.ProgressLocation.Notification;
  const stop = new AbortController();
  try {
    await vscode.window.withProgress({ location, title, cancellable: true }, (progress, cancelled) => {
      cancelled.onCancellationRequested(() => stop.abort());
      return install({ own, wanted, requirements, signal: stop.signal }, (line) => {
        log.info(line);
        progress.report({ message: notificationText(line.slice(0, 80)) });
      });
    });
  } catch (error) {
    if (stop.signal.aborted) return;
    server.showError(error instanceof InstallError ? new Error(installErrorText(error)) : error, () => log.show());
    return;
  }
  programs.forget();
  await programs.find();
  void vscode.window.showInformationMessage(t("dragoman is installed."));
  await server.autoStart();
}

/** What pip installs. It comes from an index only if the person says so: nobody here knows who owns that name there. */
async function source(): Promise<string | undefined> {
  const named = vscode.workspace.getConfiguration("dragoman").get<string>("package", "").trim();
  if (named) return named;
  const rows = [
    {
      label: t("A wheel…"),
      detail: t("dragoman-VERSION-py3-none-any.whl, which `make vsix` puts beside the extension"),
      from: () => dialog(false),
    },
    { label: t("A folder with the source…"), detail: t("a checkout of Dragoman"), from: () => dialog(true) },
    {
      label: t("The package index"),
      detail: t("pip install dragoman: whatever the index of this machine has under that name"),
      from: async () => "dragoman",
    },
  ];
  const title = t("Install dragoman from …");
  return (await vscode.window.showQuickPick(rows, { title, ignoreFocusOut: true }))?.from();
}

/** With what reads the screens of terminals. */
async function dialog(isFolder: boolean): Promise<string | undefined> {
  const filters = isFolder ? {} : { [t("Wheels")]: ["whl"] };
  const defaultUri = vscode.workspace.workspaceFolders?.[0]?.uri;
  const kind = { title: t("Install dragoman from …"), canSelectFiles: !isFolder, canSelectFolders: isFolder, filters };
  const chosen = await vscode.window.showOpenDialog({ ...kind, ...(defaultUri && { defaultUri }) });
  return chosen?.[0] && `${chosen[0].fsPath}[screen]`;
}

function installErrorText({ reason, output: lastOutput }: InstallError): string {
  const words = {
    no_python: t("It needs Python 3.11 or newer, and none was found ({0}). Install one, then try again.", lastOutput),
    no_venv: t(
      "Python could not make an environment ({0}). Install its venv module (Debian: python3-venv), then try again.",
      lastOutput,
    ),
    no_package: t(
      "The package could not be installed: {0}. Choose a wheel or a folder with the source, or install it by hand in a checkout (`uv tool install '.[screen]'`).",
      lastOutput,
    ),
  };
  return words[reason];
}
