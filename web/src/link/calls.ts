/** Requests to the daemon, all over one socket that it has proved to be its own. */
import { language, t } from "../i18n/t";
import { Away } from "./away";
import type { Line } from "./proof";
import { codeOfLink, dialHome, spend } from "./session";

export { forgetSession, session } from "./session";

/** How long a daemon that took the connection may say nothing before it counts as gone. */
const ANSWERS_WITHIN_MS = 5000;
/** Of an answer in no form of ours. */
const SHOWN = 200;
/** What the daemon takes in one message. */
const LARGEST = 1 << 20;

/** What the daemon would not do, in its own words: what happened, and what to do next. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** What a tool answered. */
export interface Answer {
  text: string;
  data: Record<string, unknown>;
  is_error: boolean;
}

export interface Wanted {
  method?: "GET" | "POST";
  body?: unknown;
  signal?: AbortSignal;
}

interface Piece {
  id: number;
  status?: number;
  text: string;
  more: boolean;
}

interface Exchange {
  take(piece: Piece): void;
  fail(error: Error): void;
}

/** The socket is opened when somebody asks, and again when it was lost: like plain requests, it is not kept up. */
class Calls {
  private line: Promise<Line> | null = null;
  private readonly open = new Map<number, Exchange>();
  private nextId = 1;

  async begin(path: string, { method = "GET", body, signal }: Wanted, exchange: Exchange): Promise<() => void> {
    const line = await (this.line ??= this.dial());
    if (signal?.aborted) throw signal.reason;
    const id = this.nextId++;
    const frame = JSON.stringify({ id, method, path, language, body });
    if (new TextEncoder().encode(frame).length > LARGEST) throw new Refused("body_too_large", t("This is too large to be sent."), "");
    this.open.set(id, exchange);
    line.send(frame);
    return () => this.open.delete(id) && line.send(JSON.stringify({ id, cancel: true }));
  }

  private dial(): Promise<Line> {
    return new Promise((settle, fail) => {
      const closed = () => {
        this.line = null;
        fail(new Away());
        for (const { fail: tell } of this.open.values()) tell(new Away());
        this.open.clear();
      };
      const line = dialHome("/link/calls", { proved: settle, message: (data) => this.heard(JSON.parse(String(data)) as Piece), closed });
      if (!line) closed();
    });
  }

  private heard(piece: Piece): void {
    const exchange = this.open.get(piece.id);
    if (!piece.more) this.open.delete(piece.id);
    exchange?.take(piece);
  }
}

const calls = new Calls();

/** Spends the code of the login link, if there is one. */
export async function spendCode(): Promise<void> {
  const code = codeOfLink();
  if (!code) return;
  const outcome = await spend(code);
  if (outcome === "unreachable") throw new Away();
  if (outcome === "refused")
    throw new Refused("code_spent", t("This login link was used already, or is older than two minutes."), t("Run `dragoman page` for a new one."));
}

export async function ask<T>(path: string, wanted: Wanted = {}): Promise<T> {
  let text = "";
  const pieces = answered(path, wanted);
  let status = 0;
  for await (const piece of pieces) {
    status = piece.status ?? status;
    text += piece.text;
  }
  return read(status, text) as T;
}

export function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, { method: "POST", body });
}

/** The pieces of an answer that comes bit by bit. */
export async function* stream(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<string> {
  let refused = 0;
  let text = "";
  for await (const piece of answered(path, { method: "POST", body, signal })) {
    if (piece.status !== undefined && piece.status >= 400) refused = piece.status;
    if (refused) text += piece.text;
    else if (piece.text) yield piece.text;
  }
  if (refused) read(refused, text);
}

/** Ends with the answer, or with whoever no longer wants it. */
async function* answered(path: string, wanted: Wanted): AsyncGenerator<Piece> {
  const waiting: (Piece | Error)[] = [];
  let wake: () => void = () => undefined;
  const put = (it: Piece | Error) => {
    waiting.push(it);
    wake();
  };
  const aborted = () => put(wanted.signal?.reason instanceof Error ? wanted.signal.reason : new Away());
  wanted.signal?.addEventListener("abort", aborted);
  const cancel = await calls.begin(path, wanted, { take: put, fail: put });
  try {
    for (;;) {
      while (!waiting.length) await new Promise<void>((settle) => (wake = settle));
      const next = waiting.shift()!;
      if (next instanceof Error) throw next;
      yield next;
      if (!next.more) return;
    }
  } finally {
    wanted.signal?.removeEventListener("abort", aborted);
    cancel();
  }
}

/** With `allWorkspaces`, what the record holds of any folder, not only of the daemon's own. */
export function call(tool: string, args: Record<string, unknown> = {}, allWorkspaces = false): Promise<Answer> {
  return post<Answer>("/api/call", { tool, arguments: args, ...(allWorkspaces ? { all_workspaces: true } : {}) });
}

/** A process that hangs keeps its connections: only an answer, whichever, proves that it lives. */
export async function answers(): Promise<boolean> {
  try {
    await ask("/api/status", { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
  } catch (error) {
    return error instanceof Refused;
  }
  return true;
}

function read(status: number, text: string): unknown {
  const body = parsed(text);
  if (status < 400 && body !== undefined) return body;
  if (body === undefined) throw new Refused(String(status), t("This was refused ({status}): {words}", { status, words: text.slice(0, SHOWN) }), "");
  const error = (body as { error?: { code?: string; message?: string; hint?: string } }).error;
  throw new Refused(error?.code ?? String(status), error?.message ?? String(status), error?.hint ?? "");
}

/** The server itself may refuse, in plain words. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
