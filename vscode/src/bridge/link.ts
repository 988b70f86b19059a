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
  onmessage: ((event: { data: unknown } & never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

const OPEN = 1;
const NEVER = new AbortController().signal;
/** The daemon takes no message of a mebibyte or more. */
const MOST_CHARACTERS = 300_000;

/** Why something asked for is not done. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export class Link {
  private asked = 0;
  private readonly waiting = new Map<number, { settle(value: unknown): void; fail(error: Error): void }>();
  private readonly doing = new Map<number, AbortController>();

  constructor(
    private readonly socket: Socket,
    private readonly hello: () => Json,
    private readonly handlers: Record<string, Handler>,
    private readonly events: { opened(): void; closed(): void },
  ) {
    socket.onopen = () => this.tell("hello", this.hello());
    socket.onmessage = ({ data }: { data: unknown }) => void this.heard(JSON.parse(String(data)) as Message);
    socket.onclose = socket.onerror = once(() => this.ended());
  }

  tell(method: string, params: Json): void {
    this.send({ method, params });
  }

  ask<T>(method: string, params: Json): Promise<T> {
    const id = ++this.asked;
    return new Promise<T>((settle, fail) => {
      this.waiting.set(id, { settle: settle as (value: unknown) => void, fail });
      this.send({ id, method, params });
    });
  }

  close(): void {
    this.socket.close();
  }

  private ended(): void {
    for (const { fail } of this.waiting.values()) fail(new Refusal("gone", "the daemon has gone"));
    for (const one of this.doing.values()) one.abort();
    this.waiting.clear();
    this.events.closed();
  }

  private async heard(message: Message): Promise<void> {
    const { id, method, params = {} } = message;
    if (method === "welcome") this.events.opened();
    else if (method === "withdrawn") this.doing.get(Number(params.id))?.abort();
    else if (method !== undefined && id !== undefined) await this.answer(id, method, params);
    else if (method !== undefined) await this.handlers[method]?.(params, NEVER).catch(() => undefined); // told, not asked
    else if (id !== undefined) this.settle(id, message);
  }

  private settle(id: number, { result, error }: Message): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) waiting?.fail(new Refusal(error.code, error.message));
    else waiting?.settle(result);
  }

  /** One answer for each question, whatever happens. */
  private async answer(id: number, method: string, params: Json): Promise<void> {
    const withdrawn = new AbortController();
    this.doing.set(id, withdrawn);
    try {
      const handler = this.handlers[method];
      if (!handler) throw new Refusal("unknown_method", method);
      this.send({ id, result: (await handler(params, withdrawn.signal)) ?? {} });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : "failed";
      this.send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    } finally {
      this.doing.delete(id);
    }
  }

  /** What is too large, to whoever waits for it: the daemon for an answer, we for a question. */
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
