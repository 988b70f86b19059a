/** Requests to the daemon, all over one socket that it has proved to be its own. */
import { language, t } from "../i18n/t";
import { Unreachable } from "./unreachable";
import type { Channel } from "./proof";
import { loginCode, openDaemonChannel, redeem } from "./session";

export { forgetSession, session } from "./session";

/** How long a daemon that took the connection may say nothing before it counts as gone. */
const ANSWERS_WITHIN_MS = 5000;
/** The answer has an unknown form. */
const SHOWN = 200;
/** The largest message that the daemon accepts. */
const LARGEST = 1 << 20;

/** Why the daemon refused, in its own words: what happened, and what to do next. */
export class RequestError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** The result of a tool. */
export interface ToolResult {
  text: string;
  data: Record<string, unknown>;
  is_error: boolean;
}

export interface RequestOptions {
  method?: "GET" | "POST";
  body?: unknown;
  signal?: AbortSignal;
}

interface ResponsePart {
  id: number;
  status?: number;
  text: string;
  more: boolean;
}

interface PendingRequest {
  take(piece: ResponsePart): void;
  fail(error: Error): void;
}

/** The socket is opened for the first request, and again for a request after it was lost. */
class RequestChannel {
  private channel: Promise<Channel> | null = null;
  private readonly pending = new Map<number, PendingRequest>();
  private nextId = 1;

  async send(
    path: string,
    { method = "GET", body, signal }: RequestOptions,
    exchange: PendingRequest,
  ): Promise<() => void> {
    const line = await (this.channel ??= this.connect());
    if (signal?.aborted) throw signal.reason;
    const id = this.nextId++;
    const frame = JSON.stringify({ id, method, path, language, body });
    if (new TextEncoder().encode(frame).length > LARGEST)
      throw new RequestError("body_too_large", t("This is too large to send."), "");
    this.pending.set(id, exchange);
    line.send(frame);
    return () => this.pending.delete(id) && line.send(JSON.stringify({ id, cancel: true }));
  }

  private connect(): Promise<Channel> {
    return new Promise((settle, fail) => {
      const closed = () => {
        this.channel = null;
        fail(new Unreachable());
        for (const { fail: reject } of this.pending.values()) reject(new Unreachable());
        this.pending.clear();
      };
      const line = openDaemonChannel("/link/calls", {
        proved: settle,
        message: (data) => this.handlePart(JSON.parse(String(data)) as ResponsePart),
        closed,
      });
      if (!line) closed();
    });
  }

  private handlePart(piece: ResponsePart): void {
    const exchange = this.pending.get(piece.id);
    if (!piece.more) this.pending.delete(piece.id);
    exchange?.take(piece);
  }
}

const requestChannel = new RequestChannel();

/** Spends the code of the login link, if there is one. */
export async function redeemLoginCode(): Promise<void> {
  const code = loginCode();
  if (!code) return;
  const outcome = await redeem(code);
  if (outcome === "unreachable") throw new Unreachable();
  if (outcome === "refused")
    throw new RequestError(
      "code_spent",
      t("This login link has already been used or is older than two minutes."),
      t("Run `dragoman page` for a new one."),
    );
}

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  let text = "";
  const pieces = responseParts(path, options);
  let status = 0;
  for await (const piece of pieces) {
    status = piece.status ?? status;
    text += piece.text;
  }
  return readResponse(status, text) as T;
}

/** An answer that is a text: a file that the daemon made. */
export async function readText(path: string): Promise<string> {
  let text = "";
  let status = 0;
  for await (const piece of responseParts(path, {})) {
    status = piece.status ?? status;
    text += piece.text;
  }
  if (status >= 400) readResponse(status, text);
  return text;
}

export function post<T>(path: string, body: unknown): Promise<T> {
  return request<T>(path, { method: "POST", body });
}

/** The pieces of an answer that comes bit by bit. */
export async function* stream(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<string> {
  let refused = 0;
  let text = "";
  for await (const piece of responseParts(path, { method: "POST", body, signal })) {
    if (piece.status !== undefined && piece.status >= 400) refused = piece.status;
    if (refused) text += piece.text;
    else if (piece.text) yield piece.text;
  }
  if (refused) readResponse(refused, text);
}

/** Ends with the answer, or when the caller aborts. */
async function* responseParts(path: string, options: RequestOptions): AsyncGenerator<ResponsePart> {
  const waiting: (ResponsePart | Error)[] = [];
  let wake: () => void = () => undefined;
  const put = (it: ResponsePart | Error) => {
    waiting.push(it);
    wake();
  };
  const aborted = () => put(options.signal?.reason instanceof Error ? options.signal.reason : new Unreachable());
  options.signal?.addEventListener("abort", aborted);
  const cancel = await requestChannel.send(path, options, { take: put, fail: put });
  try {
    for (;;) {
      while (!waiting.length) await new Promise<void>((settle) => (wake = settle));
      const next = waiting.shift()!;
      if (next instanceof Error) throw next;
      yield next;
      if (!next.more) return;
    }
  } finally {
    options.signal?.removeEventListener("abort", aborted);
    cancel();
  }
}

/** With `allWorkspaces`, what the record holds of any folder, not only of the daemon's own. */
export function callTool(tool: string, args: Record<string, unknown> = {}, allWorkspaces = false): Promise<ToolResult> {
  return post<ToolResult>("/api/call", { tool, arguments: args, ...(allWorkspaces ? { all_workspaces: true } : {}) });
}

/** A process that hangs keeps its connections: only an answer, even an error, proves that it runs. */
export async function isResponsive(): Promise<boolean> {
  try {
    await request("/api/status", { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
  } catch (error) {
    return error instanceof RequestError;
  }
  return true;
}

function readResponse(status: number, text: string): unknown {
  const body = parseJson(text);
  if (status < 400 && body !== undefined) return body;
  if (body === undefined)
    throw new RequestError(
      String(status),
      t("Request refused ({status}): {words}", { status, words: text.slice(0, SHOWN) }),
      "",
    );
  const error = (body as { error?: { code?: string; message?: string; hint?: string } }).error;
  throw new RequestError(error?.code ?? String(status), error?.message ?? String(status), error?.hint ?? "");
}

/** The server itself may refuse, in plain words. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
