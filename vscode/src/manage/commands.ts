/** The commands, as a table. */
import * as vscode from "vscode";

import { plain } from "../bridge/plain";
import { findPlaces } from "../daemon/places";
import { copyConfiguration, writeConfiguration } from "./clients";
import { installOwn } from "./installing";
import { openMenu } from "./menu";
import { openPage } from "./page";
import { settings, wantedPort, type Server } from "./server";
import { shown } from "./showing";
import { trustOwnFolder } from "./trusting";

const t = vscode.l10n.t;

export function registerCommands(server: Server): vscode.Disposable {
  const table: Record<string, () => unknown> = {
    menu: () => openMenu(server),
    start: () => server.start(),
    stop: () => server.stop(),
    restart: () => server.restart(),
    status: () => vscode.window.showInformationMessage(plain(shown(server.known, server.doing, t, server.programs.isMissing).tooltip.replaceAll("\n", ". "))),
    changePort: () => changePort(server),
    toggleAutoStart: () => toggleAutoStart(server),
    copyClientConfig: () => copyConfiguration(server),
    writeClientConfig: () => writeConfiguration(server),
    install: () => installOwn(server),
    openPage: () => openPage(server),
    showLog: showLog,
    trustFolder: () => trustOwnFolder(server),
  };
  const commands = Object.entries(table).map(([name, action]) => vscode.commands.registerCommand(`dragoman.${name}`, action));
  return vscode.Disposable.from(...commands, vscode.workspace.onDidChangeConfiguration((change) => settingsChanged(server, change)));
}

async function changePort(server: Server): Promise<void> {
  const now = server.known.state === "running" ? server.known.status.port : wantedPort();
  const value = await vscode.window.showInputBox({
    title: t("Port of the Dragoman server"),
    prompt: t("The server moves there at once; live sessions are asked about first."),
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
  const words = isOn ? t("The server starts with the editor from now on.") : t("The server no longer starts with the editor.");
  void vscode.window.showInformationMessage(words);
}

/** Changed by hand in the settings: the window that the person is at passes it on. */
function settingsChanged(server: Server, change: vscode.ConfigurationChangeEvent): void {
  if (!vscode.window.state.focused) return;
  const port = wantedPort();
  const isThere = server.known.state === "running" && server.known.status.port === port;
  // Where none runs it is told to the daemon's own settings alone, by which clients and the command line start it.
  if (change.affectsConfiguration("dragoman.port") && port !== null && !isThere && !server.doing) void server.changePort(port);
  if (change.affectsConfiguration("dragoman.autoStart")) void server.setAutoStart(settings().get<boolean>("autoStart", true));
}

async function showLog(): Promise<void> {
  try {
    await vscode.window.showTextDocument(vscode.Uri.file(findPlaces().logFile), { preview: true });
  } catch {
    void vscode.window.showInformationMessage(t("There is no log yet: the server has not run here."));
  }
}
