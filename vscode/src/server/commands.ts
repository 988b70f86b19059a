/** The commands, as a table. */
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import { findPlaces } from "../daemon/places";
import { copyConfiguration, writeConfiguration } from "../server/clientConfig";
import { installManaged } from "../server/installCommand";
import { openMenu } from "./menu";
import { openPage } from "./page";
import { settings, wantedPort, type Server } from "../server/server";
import { statusText } from "../server/statusText";
import { trustWorkspaceFolder } from "../server/folderTrust";

const t = vscode.l10n.t;

export function registerCommands(server: Server): vscode.Disposable {
  const table: Record<string, () => unknown> = {
    menu: () => openMenu(server),
    start: () => server.start(),
    stop: () => server.stop(),
    restart: () => server.restart(),
    status: () =>
      vscode.window.showInformationMessage(
        notificationText(
          statusText(server.state, server.activity, t, server.programs.isMissing).tooltip.replaceAll("\n", ". "),
        ),
      ),
    changePort: () => changePort(server),
    toggleAutoStart: () => toggleAutoStart(server),
    copyClientConfig: () => copyConfiguration(server),
    writeClientConfig: () => writeConfiguration(server),
    install: () => installManaged(server),
    openPage: () => openPage(server),
    showLog: showLog,
    trustFolder: () => trustWorkspaceFolder(server),
  };
  const commands = Object.entries(table).map(([name, action]) =>
    vscode.commands.registerCommand(`dragoman.${name}`, action),
  );
  return vscode.Disposable.from(
    ...commands,
    vscode.workspace.onDidChangeConfiguration((change) => settingsChanged(server, change)),
  );
}

async function changePort(server: Server): Promise<void> {
  const now = server.state.state === "running" ? server.state.status.port : wantedPort();
  const value = await vscode.window.showInputBox({
    title: t("Port of the Dragoman server"),
    prompt: t("The server moves to this port at once. You are asked first if sessions are live."),
    value: now === null ? "" : String(now),
    validateInput: (text) => (portOf(text) ? undefined : t("A port is a whole number from 1 to 65535.")),
  });
  const port = value === undefined ? undefined : portOf(value);
  if (port) await server.changePort(port);
}

export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : undefined;
}

async function toggleAutoStart(server: Server): Promise<void> {
  const isOn = !settings().get<boolean>("autoStart", true);
  await server.setAutoStart(isOn);
  const words = isOn ? t("The server now starts with the editor.") : t("The server no longer starts with the editor.");
  void vscode.window.showInformationMessage(words);
}

/** Changed by hand in the settings: the window that the person is at passes it on. */
function settingsChanged(server: Server, change: vscode.ConfigurationChangeEvent): void {
  if (!vscode.window.state.focused) return;
  const port = wantedPort();
  const isThere = server.state.state === "running" && server.state.status.port === port;
  // Without a running server, only the daemon's own settings change: clients and the command line start it by them.
  if (change.affectsConfiguration("dragoman.port") && port !== null && !isThere && !server.activity)
    void server.changePort(port);
  if (change.affectsConfiguration("dragoman.autoStart"))
    void server.setAutoStart(settings().get<boolean>("autoStart", true));
}

async function showLog(): Promise<void> {
  try {
    await vscode.window.showTextDocument(vscode.Uri.file(findPlaces().logFile), { preview: true });
  } catch {
    void vscode.window.showInformationMessage(t("There is no log yet: the server has not run on this machine."));
  }
}
