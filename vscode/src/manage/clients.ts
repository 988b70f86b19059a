/** The configuration of MCP clients: copied, or written into their files after a look and a yes. */
import * as vscode from "vscode";

import { holdsSecret, labelOf, offers, textOf, write, type Offer } from "../daemon/clients";
import type { Server } from "./server";

const t = vscode.l10n.t;

export async function copyConfiguration(server: Server): Promise<void> {
  await server.with(async (dragoman) => {
    const offer = await choose(await offers(dragoman), t("Copy the configuration for …"));
    if (!offer) return;
    await vscode.env.clipboard.writeText(await textOf(dragoman, offer));
    const secret = holdsSecret(offer) ? ` ${t("It holds a secret: paste it nowhere else.")}` : "";
    const place = offer.client.path ? ` ${t("It goes into {0}.", offer.client.path)}` : "";
    void vscode.window.showInformationMessage(`${t("Copied for {0}.", offer.client.title)}${place}${secret}`);
  });
}

export async function writeConfiguration(server: Server): Promise<void> {
  await server.with(async (dragoman) => {
    const offer = await choose(await offers(dragoman), t("Write the configuration for …"));
    if (!offer || !(await agrees(offer))) return;
    const [words, open] = [await write(dragoman, offer), t("Open file")];
    const { path } = offer.client;
    const chosen = await vscode.window.showInformationMessage(words, ...(path ? [open] : []));
    if (chosen === open && path) await vscode.window.showTextDocument(vscode.Uri.file(path));
  });
}

/** With the secret's place in it, and not the secret: a question may be seen by others. */
async function agrees(offer: Offer): Promise<boolean> {
  const { client, transport } = offer;
  const question = client.path ? t("Write this into {0}?", client.path) : t("Add this to {0}?", client.title);
  const secret = holdsSecret(offer) ? [t("A secret is put in at its place: share the file with nobody.")] : [];
  const detail = [client[transport]?.text ?? "", ...secret].join("\n\n");
  const yes = t("Write");
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, yes)) === yes;
}

async function choose(all: Offer[], title: string): Promise<Offer | undefined> {
  const items = all.map((offer) => ({
    offer,
    label: labelOf(offer),
    description: offer.client.installed ? t("installed here") : "",
    detail: offer.client.path ?? "",
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.offer;
}
