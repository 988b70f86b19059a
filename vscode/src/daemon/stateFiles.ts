/** The files of a running daemon: its address, and the secrets that open it. */
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

import type { Places } from "./places";

export type Purpose = "mcp" | "editor";

export interface DaemonState {
  /** `HOST:PORT` */
  authority: string;
  instance: string;
}

/**
 * The address that a daemon wrote; undefined if there is none. Only a request shows whether it still runs (`home.ts`).
 */
export async function readState(places: Places): Promise<DaemonState | undefined> {
  const stored = parseJson(await readPrivateFile(places.stateFile));
  if (!stored) return undefined;
  const { bind, port, instance } = stored as { bind: string; port: number; instance?: string };
  return { authority: `${bind.includes(":") ? `[${bind}]` : bind}:${port}`, instance: String(instance ?? "") };
}

/** Secrets come from the daemon's own file, never by an address or an argument. */
export async function readToken(places: Places, purpose: Purpose): Promise<string> {
  const token = (await readPrivateFile(join(places.tokensFolder, purpose)))?.trim();
  if (!token) throw new Error(`${places.tokensFolder}: no token for ${purpose}`);
  return token;
}

/** Only a plain file of this user that nobody else can read or write is trusted. */
async function readPrivateFile(path: string): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { uid, mode } = await file.stat();
    if (uid !== process.getuid?.() || mode & 0o077) throw new Error(`${path} is not private to you`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function parseJson(text: string | undefined): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text ?? "") as Record<string, unknown>;
  } catch {
    return undefined; // none, or caught between two writes: the next look sees it whole
  }
}
