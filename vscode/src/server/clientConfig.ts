/** The configuration of MCP clients: copied, or written into their files after a look and a yes. */
import * as vscode from "vscode";

import { holdsSecret, configLabel, clientConfigs, configText, writeConfig, type ClientConfig } from "../daemon/clients";
import type { Server } from "../server/server";

const t = vscode.l10n.t;

export async function copyConfiguration(server: Server): Promise<void> {
  await server.withProgram(async (dragoman) => {
    const config = await pickClient(await clientConfigs(dragoman), t("Copy the configuration for …"));
    if (!config) return;
    await vscode.env.clipboard.writeText(await configText(dragoman, config));
    const secret = holdsSecret(config) ? ` ${t("It contains a secret. Do not paste it anywhere else.")}` : "";
    const location = config.client.path ? ` ${t("Paste it into {0}.", config.client.path)}` : "";
    void vscode.window.showInformationMessage(`${t("Copied for {0}.", config.client.title)}${location}${secret}`);
  });
}

export async function writeConfiguration(server: Server): Promise<void> {
  await server.withProgram(async (dragoman) => {
    const config = await pickClient(await clientConfigs(dragoman), t("Write the configuration for …"));
    if (!config || !(await confirmWrite(config))) return;
    const [words, open] = [await writeConfig(dragoman, config), t("Open file")];
    const { path } = config.client;
    const chosen = await vscode.window.showInformationMessage(words, ...(path ? [open] : []));
    if (chosen === open && path) await vscode.window.showTextDocument(vscode.Uri.file(path));
  });
}

/** With the secret's place in it, and not the secret: a question may be seen by others. */
async function confirmWrite(config: ClientConfig): Promise<boolean> {
  const { client, transport } = config;
  const question = client.path ? t("Write this into {0}?", client.path) : t("Add this to {0}?", client.title);
  const secret = holdsSecret(config) ? [t("The file will contain a secret. Do not share it.")] : [];
  const detail = [client[transport]?.text ?? "", ...secret].join("\n\n");
  const yes = t("Write");
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, yes)) === yes;
}

async function pickClient(all: ClientConfig[], title: string): Promise<ClientConfig | undefined> {
  const items = all.map((config) => ({
    offer: config,
    label: configLabel(config),
    description: config.client.installed ? t("installed here") : "",
    detail: config.client.path ?? "",
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.offer;
}
