/** The page in a browser, where a browser can have it. */
import * as vscode from "vscode";

import { isWelcome } from "../daemon/welcome";
import type { Server } from "./server";

const t = vscode.l10n.t;

export async function openPage(server: Server): Promise<void> {
  await server.with(async (dragoman) => {
    const link = vscode.Uri.parse((await dragoman.json<{ link: string }>(["page"])).link, true);
    const outside = await vscode.env.asExternalUri(link);
    if (await isWelcome(`${link.scheme}://${link.authority}`, outside.authority)) await vscode.env.openExternal(link);
    else await sayWhere(link);
  });
}

/** An editor in a browser leads to it by an address of its own, under which the server answers nobody. */
async function sayWhere(link: vscode.Uri): Promise<void> {
  const [words, copy] = [t("The page is served to browsers on the server's own machine, at {0}. Open it there, or forward that port to your machine under the same number.", link.authority), t("Copy the link")];
  if ((await vscode.window.showWarningMessage(words, copy)) === copy) await vscode.env.clipboard.writeText(link.toString(true));
}
