/**
 * Which daemon runs, and where it serves.
 *
 * The state file on disk may be left over from a daemon that died, and its port may belong to another program by now.
 * It is believed only if the daemon says the same on its Unix socket: its folder is writable by this user alone.
 */
import { lstat } from "node:fs/promises";
import { createConnection } from "node:net";
import { dirname } from "node:path";

import { readState } from "./stateFiles";
import type { Places } from "./places";

export interface Endpoint {
  /** The address that a client connects to: `HOST:PORT`. */
  authority: string;
  /** Unique to this start of the daemon. */
  instance: string;
}

const PROTOCOL = 1;
const GREETS_WITHIN_MS = 2000;
const MOST_GREETING = 65_536;

/** Undefined if no daemon runs, or if the files are not trustworthy. */
export async function findEndpoint(places: Places, language: string): Promise<Endpoint | undefined> {
  const note = await readState(places);
  if (!note?.instance || !(await isPrivate(places.controlSocket))) return undefined;
  const greeting = await askSocket(places.controlSocket, language);
  return greeting?.instance === note.instance ? { authority: note.authority, instance: note.instance } : undefined;
}

/** A user who can replace the socket could impersonate the daemon. */
async function isPrivate(socket: string): Promise<boolean> {
  const uid = process.getuid?.();
  try {
    const [folder, itself] = await Promise.all([lstat(dirname(socket)), lstat(socket)]);
    return (
      folder.isDirectory() && folder.uid === uid && !(folder.mode & 0o077) && itself.isSocket() && itself.uid === uid
    );
  } catch {
    return false;
  }
}

/** The daemon's first message. Nothing secret is sent before it. */
function askSocket(path: string, language: string): Promise<{ instance?: unknown } | undefined> {
  return new Promise((settle) => {
    let received = "";
    const socket = createConnection({ path });
    const end = (greeting?: { instance?: unknown }) => {
      socket.destroy();
      settle(greeting);
    };
    socket.setTimeout(GREETS_WITHIN_MS, () => end());
    socket.on("error", () => end());
    socket.on("close", () => end());
    socket.on("connect", () =>
      socket.write(`${JSON.stringify({ dragoman: PROTOCOL, role: "control", version: "", language, about: {} })}\n`),
    );
    socket.on("data", (data) => {
      received += data.toString("utf8");
      if (received.includes("\n")) end(parseJson(received.slice(0, received.indexOf("\n"))));
      else if (received.length > MOST_GREETING) end();
    });
  });
}

function parseJson(line: string): { instance?: unknown } | undefined {
  try {
    const reply: unknown = JSON.parse(line);
    return typeof reply === "object" && reply !== null ? reply : undefined;
  } catch {
    return undefined;
  }
}
