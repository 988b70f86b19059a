/** The socket to the daemon: questions and answers both ways, as JSON. */

import { once } from "../daemon/once";

export type Json = Record<string, unknown>;
export type Handler = (params: Json, signal: AbortSignal) => Promise<unknown>;

interface Message {
  id?: number;
  method?: string;
  params?: Json;
  result?: unknown;
  error?: { code: string; message: string } | null;
}

/** The part of a WebSocket that is used. */
export interface Socket {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

const OPEN = 1;
const NEVER = new AbortController().signal;
/** The daemon takes no message of a mebibyte or more. */
const MOST_CHARACTERS = 300_000;

/** Why something asked for is not done. */
export class RpcError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export class RpcConnection {
  private lastId = 0;
  private readonly pending = new Map<number, { settle(value: unknown): void; fail(error: Error): void }>();
  private readonly running = new Map<number, AbortController>();

  constructor(
    private readonly socket: Socket,
    private readonly hello: () => Json,
    private readonly handlers: Record<string, Handler>,
    private readonly events: { opened(): void; closed(): void },
  ) {
    socket.onopen = () => this.notify("hello", this.hello());
    socket.onmessage = ({ data }: { data: unknown }) => void this.handleMessage(JSON.parse(String(data)) as Message);
    socket.onclose = socket.onerror = once(() => this.handleClose());
  }

  notify(method: string, params: Json): void {
    this.send({ method, params });
  }

  request<T>(method: string, params: Json): Promise<T> {
    const id = ++this.lastId;
    return new Promise<T>((settle, fail) => {
      this.pending.set(id, { settle: settle, fail });
      this.send({ id, method, params });
    });
  }

  close(): void {
    this.socket.close();
  }

  private handleClose(): void {
    for (const { fail } of this.pending.values()) fail(new RpcError("gone", "the daemon has gone"));
    for (const one of this.running.values()) one.abort();
    this.pending.clear();
    this.events.closed();
  }

  private async handleMessage(message: Message): Promise<void> {
    const { id, method, params = {} } = message;
    if (method === "welcome") this.events.opened();
    else if (method === "withdrawn") this.running.get(Number(params.id))?.abort();
    else if (method !== undefined && id !== undefined) await this.answer(id, method, params);
    else if (method !== undefined)
      await this.handlers[method]?.(params, NEVER).catch(() => undefined); // a notification: nobody waits for an answer
    else if (id !== undefined) this.settle(id, message);
  }

  private settle(id: number, { result, error }: Message): void {
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    if (error) waiting?.fail(new RpcError(error.code, error.message));
    else waiting?.settle(result);
  }

  /** One answer for each question, whatever happens. */
  private async answer(id: number, method: string, params: Json): Promise<void> {
    const withdrawn = new AbortController();
    this.running.set(id, withdrawn);
    try {
      const handler = this.handlers[method];
      if (!handler) throw new RpcError("unknown_method", method);
      this.send({ id, result: (await handler(params, withdrawn.signal)) ?? {} });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : "failed";
      this.send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    } finally {
      this.running.delete(id);
    }
  }

  /** A message that is too large fails at the side that waits: the daemon waits for an answer, we for a request. */
  private refuse(id: number, method: string | undefined): void {
    const error = { code: "too_large", message: "it is too large to be sent" };
    if (method === undefined) this.socket.send(JSON.stringify({ id, error }));
    else this.settle(id, { error });
  }

  private send(message: Message): void {
    if (this.socket.readyState !== OPEN) return;
    const text = JSON.stringify(message, wellFormed);
    if (text.length <= MOST_CHARACTERS) this.socket.send(text);
    else if (message.id !== undefined) this.refuse(message.id, message.method);
  }
}

/** Half of a pair, where a text was cut or a program made it: no other side reads that. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\p{Cs}/gu, "\ufffd") : value;
}
