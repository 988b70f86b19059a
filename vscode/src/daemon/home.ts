/** Which daemon lives, and where it serves. The note on disk may be a dead one's, and its port anybody's by now: it is
 * believed where the daemon itself says the same on its Unix socket, which stands in a folder that only we can write to. */
import { lstat } from "node:fs/promises";
import { createConnection } from "node:net";
import { dirname } from "node:path";

import { readNote } from "./files";
import type { Places } from "./places";

export interface Home {
  /** As it is dialled: `HOST:PORT`. */
  authority: string;
  /** Of this start of the daemon alone. */
  instance: string;
}

const PROTOCOL = 1;
const GREETS_WITHIN_MS = 2000;
const MOST_GREETING = 65_536;

/** Nothing where none lives, or what lies there is not ours to believe. */
export async function findHome(places: Places, language: string): Promise<Home | undefined> {
  const note = await readNote(places);
  if (!note?.instance || !(await isPrivate(places.controlSocket))) return undefined;
  const greeting = await greeted(places.controlSocket, language);
  return greeting?.instance === note.instance ? { authority: note.authority, instance: note.instance } : undefined;
}

/** Whoever could replace the socket could speak for the daemon. */
async function isPrivate(socket: string): Promise<boolean> {
  const uid = process.getuid?.();
  try {
    const [folder, itself] = await Promise.all([lstat(dirname(socket)), lstat(socket)]);
    return folder.isDirectory() && folder.uid === uid && !(folder.mode & 0o077) && itself.isSocket() && itself.uid === uid;
  } catch {
    return false;
  }
}

/** What the daemon says first. Nothing that is secret is said to it. */
function greeted(path: string, language: string): Promise<{ instance?: unknown } | undefined> {
  return new Promise((settle) => {
    let heard = "";
    const socket = createConnection({ path });
    const end = (greeting?: { instance?: unknown }) => {
      socket.destroy();
      settle(greeting);
    };
    socket.setTimeout(GREETS_WITHIN_MS, () => end());
    socket.on("error", () => end());
    socket.on("close", () => end());
    socket.on("connect", () => socket.write(`${JSON.stringify({ dragoman: PROTOCOL, role: "control", version: "", language, about: {} })}\n`));
    socket.on("data", (data) => {
      heard += data.toString("utf8");
      if (heard.includes("\n")) end(parsed(heard.slice(0, heard.indexOf("\n"))));
      else if (heard.length > MOST_GREETING) end();
    });
  });
}

function parsed(line: string): { instance?: unknown } | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return typeof said === "object" && said !== null ? said : undefined;
  } catch {
    return undefined;
  }
}
