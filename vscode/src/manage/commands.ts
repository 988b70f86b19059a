/** The commands, as a table. */
import * as vscode from "vscode";

import { plain } from "../bridge/plain";
import { offers, textOf, write, type Offer } from "../daemon/clients";
import { readToken } from "../daemon/files";
import { findPlaces } from "../daemon/places";
import { installOwn } from "./installing";
import { openMenu } from "./menu";
import { folderPaths } from "./program";
import { settings, wantedPort, type Server } from "./server";
import { shown } from "./showing";

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
    trustFolder: () => trustFolder(server),
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
  const isElsewhere = server.known.state === "running" && port !== null && server.known.status.port !== port;
  if (change.affectsConfiguration("dragoman.port") && isElsewhere && !server.doing) void server.changePort(port);
  if (change.affectsConfiguration("dragoman.autoStart")) void server.setAutoStart(settings().get<boolean>("autoStart", true));
}

async function copyConfiguration(server: Server): Promise<void> {
  await server.with(async (dragoman) => {
    const offer = await choose(await offers(dragoman), t("Copy the configuration for …"));
    if (!offer) return;
    const text = await textOf(offer, () => readToken(findPlaces(), "mcp"));
    await vscode.env.clipboard.writeText(text);
    const secret = text !== offer.client[offer.transport]?.text ? ` ${t("It holds a secret: paste it nowhere else.")}` : "";
    const place = offer.client.path ? ` ${t("It goes into {0}.", offer.client.path)}` : "";
    void vscode.window.showInformationMessage(`${t("Copied for {0}.", offer.client.title)}${place}${secret}`);
  });
}

async function writeConfiguration(server: Server): Promise<void> {
  await server.with(async (dragoman) => {
    const offer = await choose(await offers(dragoman), t("Write the configuration for …"));
    if (offer) void vscode.window.showInformationMessage(await write(dragoman, offer));
  });
}

async function choose(all: Offer[], title: string): Promise<Offer | undefined> {
  const items = all.map((offer) => ({
    offer,
    label: `${offer.client.title} (${offer.transport === "stdio" ? "stdio" : "HTTP"})`,
    description: offer.client.installed ? t("installed here") : "",
    detail: offer.client.path ?? "",
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.offer;
}

/** What the daemon asks of a person before an agent may start anything in a folder, answered here. */
async function trustFolder(server: Server): Promise<void> {
  const folder = folderPaths()[0];
  if (!folder) return;
  const allow = t("Allow");
  const detail = t("Programs and launch configurations in it are started when an agent asks for it.");
  const chosen = await vscode.window.showWarningMessage(t("Let agents run what {0} holds?", plain(folder)), { modal: true, detail }, allow);
  if (chosen === allow) await server.with((dragoman) => dragoman.run(["trust", folder]));
}

async function openPage(server: Server): Promise<void> {
  await server.with(async (dragoman) => {
    const { link } = await dragoman.json<{ link: string }>(["page"]);
    await vscode.env.openExternal(vscode.Uri.parse(link, true));
  });
}

async function showLog(): Promise<void> {
  try {
    await vscode.window.showTextDocument(vscode.Uri.file(findPlaces().logFile), { preview: true });
  } catch {
    void vscode.window.showInformationMessage(t("There is no log yet: the server has not run here."));
  }
}
