/** What stands for a daemon: its files, its Unix socket, and sockets whose other end knows its key. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";

import { mac, type Transcript } from "../../web/src/link/proof";
import type { Places } from "../src/daemon/places";
import { room } from "./temporaryFolders";

export const [INSTANCE, SECRET] = ["1f".repeat(16), "the editors' key"];
const NONCE = "ab".repeat(32);

export async function daemonPlaces(note: object = {}): Promise<Places> {
  const folder = await room();
  const places = {
    stateFile: join(folder, "daemon.json"),
    controlSocket: join(folder, "dragoman.sock"),
    tokensFolder: join(folder, "tokens"),
    logFile: "",
  };
  await mkdir(places.tokensFolder, { mode: 0o700 });
  await written(places.stateFile, JSON.stringify({ pid: 7, bind: "127.0.0.1", port: 9, instance: INSTANCE, ...note }));
  await written(join(places.tokensFolder, "editor"), SECRET);
  return places;
}

async function written(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o600);
}

/** The daemon's own socket, which says who lives. */
export async function greeting({ controlSocket }: Places, instance = INSTANCE): Promise<Server> {
  const server = createServer((client) => {
    client.on("error", () => undefined);
    client.once("data", () => client.end(`${JSON.stringify({ dragoman: 1, version: "0", pid: 7, instance })}\n`));
  });
  await new Promise<void>((ready) => server.listen(controlSocket, ready));
  return server;
}

/** A WebSocket to a daemon that has the key, as far as the proof goes. */
export class ProvedSocket {
  static readonly OPEN = 1;
  readyState = 1;
  onopen: (() => void) | null = null;
  onmessage: ((told: { data: string }) => void) | null = null;
  onclose: ((end: { code?: number }) => void) | null = null;
  onerror: ((end: object) => void) | null = null;
  private transcript: Transcript | undefined;
  private isProved = false;

  constructor(private readonly url: string) {
    queueMicrotask(() => this.opened());
  }

  protected opened(): void {
    this.onopen?.();
  }

  protected proved(): void {}

  protected heard(_: string): void {}

  says(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  send(text: string): void {
    if (this.isProved) this.heard(text);
    else void this.prove(JSON.parse(text) as Record<string, string>);
  }

  close(): void {}

  private async prove({ key, nonce, dialled, mac: theirs }: Record<string, string>): Promise<void> {
    if (this.transcript) return this.check(theirs, this.transcript);
    this.transcript = {
      keyId: key!,
      path: new URL(this.url).pathname,
      clientNonce: nonce!,
      daemonNonce: NONCE,
      instance: INSTANCE,
      dialled: dialled!,
    };
    this.says({ nonce: NONCE, instance: INSTANCE, mac: await mac(SECRET, "daemon", this.transcript) });
  }

  private async check(theirs: string | undefined, transcript: Transcript): Promise<void> {
    if (theirs !== (await mac(SECRET, "client", transcript))) return this.onclose?.({ code: 4403 });
    this.isProved = true;
    this.says({ proved: true });
    this.proved();
  }
}
