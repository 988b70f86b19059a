/** The menu of the status bar: every action that the server's current state allows. */
import * as vscode from "vscode";

import { folderPaths } from "../server/programFinder";
import { settings, type Server } from "../server/server";

const t = vscode.l10n.t;

interface Item extends vscode.QuickPickItem {
  command?: string;
}

export async function openMenu(server: Server): Promise<void> {
  const title = headline(server);
  const chosen = await vscode.window.showQuickPick(items(server), {
    title,
    placeHolder: t("What to do with the server"),
  });
  // Otherwise the status bar gets the focus again, and its tooltip covers the next message.
  await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
  if (chosen?.command) await vscode.commands.executeCommand(chosen.command);
}

function headline({ state: known }: Server): string {
  if (known.state === "running") return t("Dragoman: running on port {0}", known.status.port);
  return known.state === "silent" ? t("Dragoman: does not respond") : t("Dragoman: not running");
}

function items(server: Server): Item[] {
  return [...lifecycleItems(server), ...configurationItems(), ...sessionItems(server), ...otherItems()];
}

function lifecycleItems({ state: known, programs }: Server): Item[] {
  const install = item("cloud-download", t("Install dragoman…"), "dragoman.install", t("into its own environment"));
  if (known.state !== "running" && known.state !== "silent")
    return [
      ...(programs.isMissing ? [install] : []),
      item("play", t("Start"), "dragoman.start", t("for this window's folder")),
    ];
  const here = folderPaths()[0];
  const isOurs = known.state === "running" && known.status.workspace === here;
  const other = known.state === "running" ? known.status.workspace : "";
  const take = item("play", t("Start for this window"), "dragoman.start", t("stops the server of {0}", other));
  // The first is chosen by Enter alone: it ends nothing.
  return [
    item("info", t("Status"), "dragoman.status"),
    ...(isOurs ? [] : [take]),
    item("debug-restart", t("Restart"), "dragoman.restart"),
    item("debug-stop", t("Stop"), "dragoman.stop"),
  ];
}

function configurationItems(): Item[] {
  const isOn = settings().get<boolean>("autoStart", true);
  return [
    separator(t("Settings")),
    item("plug", t("Change port…"), "dragoman.changePort"),
    item(
      isOn ? "check" : "circle-slash",
      isOn ? t("Automatic start is on") : t("Automatic start is off"),
      "dragoman.toggleAutoStart",
      t("select to change"),
    ),
    separator(t("Clients")),
    item("copy", t("Copy client configuration…"), "dragoman.copyClientConfig", "Claude, Cursor, Cline …"),
    item("save", t("Write client configuration…"), "dragoman.writeClientConfig"),
  ];
}

function sessionItems({ state: known }: Server): Item[] {
  if (known.state !== "running") return [];
  const count = known.status.sessions.filter(({ kind, ends }) => kind === "debug" && ends !== false).length;
  const join = item("debug-alt", t("Join a live session…"), "dragoman.joinSession", t("Live sessions: {0}", count));
  return [
    separator(t("Together")),
    ...(count ? [join] : []),
    ...(vscode.debug.activeDebugSession
      ? [item("broadcast", t("Lend this debug session to agents…"), "dragoman.lendSession")]
      : []),
    item("comment-discussion", t("Open the chat"), "dragoman.openChat"),
    item("paintcan", t("Open the canvas"), "dragoman.openCanvas"),
    item("globe", t("Open the page"), "dragoman.openPage"),
  ];
}

function otherItems(): Item[] {
  const trust = item("shield", t("Let agents run the code in this folder…"), "dragoman.trustFolder");
  return [
    separator(t("More")),
    ...(vscode.workspace.isTrusted && folderPaths().length ? [trust] : []),
    item("output", t("Show log"), "dragoman.showLog"),
  ];
}

function item(icon: string, label: string, command: string, description = ""): Item {
  return { label: `$(${icon}) ${label}`, command, description };
}

function separator(label: string): Item {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
