/** The page in a browser, where a browser can have it. */
import * as vscode from "vscode";

import type { Server } from "../server/server";

const t = vscode.l10n.t;

export async function openPage(server: Server): Promise<void> {
  await server.withProgram(async (dragoman) => {
    const link = vscode.Uri.parse((await dragoman.json<{ link: string }>(["page"])).link, true);
    if (await isLocal(link)) await vscode.env.openExternal(link);
    else await showAddress(link);
  });
}

/**
 * Whether the person's browser finds the server under the link's own name and port: on this machine, or through a port
 * that the editor forwards under the same number. The server refuses another name.
 */
async function isLocal({ authority }: vscode.Uri): Promise<boolean> {
  const [, name = "", port = ""] = /^(.*):(\d+)$/.exec(authority) ?? [];
  if (!/^(127\.0\.0\.1|\[::1\]|(.+\.)?localhost)$/.test(name)) return true;
  const outside = await vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${port}`, true));
  return [`127.0.0.1:${port}`, `localhost:${port}`].includes(outside.authority);
}

/** An editor in a browser forwards ports under another address, which the server refuses. */
async function showAddress(link: vscode.Uri): Promise<void> {
  const [words, copy] = [
    t(
      "The page is served to browsers on the server's own machine, at {0}. Open it there, or forward that port to your machine under the same number.",
      link.authority,
    ),
    t("Copy the link"),
  ];
  if ((await vscode.window.showWarningMessage(words, copy)) === copy)
    await vscode.env.clipboard.writeText(link.toString(true));
}
