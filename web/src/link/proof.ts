/** The client's half of the mutual proof (see `dragoman/access/proof.py`). No secret is ever sent, and
 *  nothing at all is said to a listener that has not proved that it is our daemon. It needs no DOM: the page and the
 *  editor's extension both dial with it.
 *
 *      dial("127.0.0.1:8177", "/link/feed", { id: "editor", secret }, { proved, message, closed });
 */
import { hex, hmacSha256 } from "./sha256";

export interface Key {
  /** Which one: a session, a login code, or `editor`. */
  id: string;
  secret: string;
  /** The daemon that it belongs to: any other one is refused, even if it knows the secret. */
  instance?: string;
}

/** The values that both sides must agree on. */
export interface Transcript {
  keyId: string;
  path: string;
  clientNonce: string;
  daemonNonce: string;
  instance: string;
  dialled: string;
}

/** `unreachable`: no answer, or not in time; `foreign`: the program that answered is not our daemon, or does not know
 *  our key; `ended`: it was proved, and is over. */
export type CloseReason = "unreachable" | "foreign" | "ended";

export interface ChannelListener {
  /** From here on the socket carries its own protocol. */
  proved(line: Channel, transcript: Transcript): void;
  message(data: string | ArrayBuffer): void;
  closed(why: CloseReason, code: number): void;
}

export interface Channel {
  send(text: string): void;
  close(): void;
}

const PROTOCOL = "dragoman proof 1";
const PROVED_WITHIN_MS = 5000;
/** The close code for a client without a proof, or with a key that has been revoked. */
const UNPROVED = 4403;
const FAILED = 1006;
const ROOM_FOR_A_PROOF = 1024;

export function mac(secret: string, label: string, it: Transcript): Promise<string> {
  const fields = [PROTOCOL, label, it.keyId, it.path, it.clientNonce, it.daemonNonce, it.instance, it.dialled];
  return hmacSha256(secret, fields.map(prefixed));
}

/** The session that a login leaves both sides with: it was derived, not sent. */
export async function sessionOf(secret: string, transcript: Transcript): Promise<Key> {
  const id = (await mac(secret, "session id", transcript)).slice(0, 32);
  return { id, secret: await mac(secret, "session key", transcript), instance: transcript.instance };
}

/** Opens a WebSocket to `HOST:PORT`; nothing else is sent before both sides have proved their key. */
export function openChannel(address: string, path: string, key: Key, listener: ChannelListener): Channel {
  return new Handshake(address, path, key, listener);
}

class Handshake implements Channel {
  private readonly socket: WebSocket;
  private readonly deadline: ReturnType<typeof setTimeout>;
  private readonly clientNonce = nonce();
  private stage: "opening" | "checking" | "waiting" | "proved" | "over" = "opening";
  private transcript: Transcript | null = null;

  constructor(
    private readonly address: string,
    private readonly path: string,
    private readonly key: Key,
    private readonly listener: ChannelListener,
  ) {
    this.socket = new WebSocket(`ws://${address}${path}`);
    this.socket.binaryType = "arraybuffer";
    this.deadline = setTimeout(() => this.end("unreachable"), PROVED_WITHIN_MS);
    this.socket.onopen = () => this.sendFrame({ key: key.id, nonce: this.clientNonce, dialled: address });
    this.socket.onmessage = ({ data }) => this.handleMessage(data as string | ArrayBuffer);
    this.socket.onerror = () => this.handleClose(FAILED); // in Node 22 no close follows where nobody listens
    this.socket.onclose = ({ code }) => this.handleClose(code);
  }

  send(text: string): void {
    if (this.stage === "proved" && this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  close(): void {
    this.stage = "over";
    clearTimeout(this.deadline);
    this.socket.close();
  }

  private sendFrame(message: Record<string, string>): void {
    if (this.stage !== "over") this.socket.send(JSON.stringify(message));
  }

  private handleMessage(data: string | ArrayBuffer): void {
    if (this.stage === "proved") this.listener.message(data);
    else if (this.stage === "opening") void this.check(data);
    else if (this.stage === "waiting" && this.transcript && isProved(data)) this.complete(this.transcript);
    else if (this.stage !== "over") this.end("foreign");
  }

  /**
   * The listener's proof, computed from the address and nonce that *we* chose. Any other proof ends the connection
   * here.
   */
  private async check(data: string | ArrayBuffer): Promise<void> {
    this.stage = "checking";
    const frame = proofIn(data);
    if (!frame) return this.end("foreign");
    const { key, path, address: dialled, clientNonce } = this;
    const transcript = {
      keyId: key.id,
      path,
      clientNonce,
      daemonNonce: frame.nonce,
      instance: frame.instance,
      dialled,
    };
    const [expected, ours] = await Promise.all([
      mac(key.secret, "daemon", transcript),
      mac(key.secret, "client", transcript),
    ]);
    if (this.stage !== "checking") return;
    if (frame.mac !== expected || (key.instance !== undefined && key.instance !== frame.instance))
      return this.end("foreign");
    this.transcript = transcript;
    this.stage = "waiting";
    this.sendFrame({ mac: ours });
  }

  private complete(transcript: Transcript): void {
    clearTimeout(this.deadline);
    this.stage = "proved";
    this.listener.proved(this, transcript);
  }

  private handleClose(code: number): void {
    if (this.stage === "proved") this.end("ended", code);
    else if (this.stage !== "over") this.end(code === UNPROVED ? "foreign" : "unreachable", code);
  }

  private end(why: CloseReason, code = 0): void {
    if (this.stage === "over") return;
    this.close();
    this.listener.closed(why, code);
  }
}

function proofIn(data: string | ArrayBuffer): { nonce: string; instance: string; mac: string } | null {
  const frame = parsed(data);
  const { nonce, instance, mac } = frame;
  return typeof nonce === "string" && typeof instance === "string" && typeof mac === "string"
    ? { nonce, instance, mac }
    : null;
}

function isProved(data: string | ArrayBuffer): boolean {
  return parsed(data)["proved"] === true;
}

function parsed(data: string | ArrayBuffer): Record<string, unknown> {
  if (typeof data !== "string" || data.length > ROOM_FOR_A_PROOF) return {};
  try {
    const frame: unknown = JSON.parse(data);
    return typeof frame === "object" && frame !== null ? (frame as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function nonce(): string {
  return hex(crypto.getRandomValues(new Uint8Array(32)));
}

function prefixed(text: string): Uint8Array {
  const data = new TextEncoder().encode(text);
  const whole = new Uint8Array(4 + data.length);
  new DataView(whole.buffer).setUint32(0, data.length);
  whole.set(data, 4);
  return whole;
}
