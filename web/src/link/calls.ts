/** Plain requests, with the secret of this tab. */
import { language, t } from "../i18n/t";
import { Away } from "./away";

const KEY = "session";
/** How long a daemon that took the connection may say nothing before it counts as gone. */
const REFUSAL_WITHIN_MS = 5000;
/** Of an answer in no form of ours. */
const SHOWN = 200;

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

export function session(): string | null {
  return sessionStorage.getItem(KEY);
}

export function forgetSession(): void {
  sessionStorage.removeItem(KEY);
}

/** Spends the code of the login link, which stands in the fragment so that no server ever logs it. */
export async function spendCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  const spoken = { "Accept-Language": language };
  const answer = await sent("/api/login", { method: "POST", body: JSON.stringify({ code }), headers: spoken });
  const body = (await read(answer)) as { session: string };
  sessionStorage.setItem(KEY, body.session);
}

export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  return (await read(await sent(path, { ...init, headers: headers() }))) as T;
}

/** What a browser says of a server that is gone ("Failed to fetch") helps nobody. */
async function sent(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    throw init.signal?.aborted ? error : new Away();
  }
}

/** In the language that the page speaks, which need not be the browser's. */
function headers(): Record<string, string> {
  return { Authorization: `Bearer ${session() ?? ""}`, "Accept-Language": language };
}

export function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, { method: "POST", body: JSON.stringify(body) });
}

/** The pieces of an answer that comes bit by bit. */
export async function* stream(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<string> {
  const answer = await sent(path, { method: "POST", body: JSON.stringify(body), headers: headers(), signal });
  if (!answer.ok || !answer.body) await read(answer);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  const next = () => reader.read().catch((error: unknown) => Promise.reject(signal.aborted ? error : new Away()));
  for (let piece = await next(); !piece.done; piece = await next()) yield piece.value;
}

/** With `allWorkspaces`, what the record holds of any folder, not only of the daemon's own. */
export function call(tool: string, args: Record<string, unknown> = {}, allWorkspaces = false): Promise<Answer> {
  return post<Answer>("/api/call", { tool, arguments: args, ...(allWorkspaces ? { all_workspaces: true } : {}) });
}

/** A process that hangs keeps its connections: only an answer, whichever, proves that it lives. */
export async function answers(): Promise<boolean> {
  try {
    await ask("/api/status", { signal: AbortSignal.timeout(REFUSAL_WITHIN_MS) });
  } catch (error) {
    return error instanceof Refused;
  }
  return true;
}

/** A refused upgrade tells a page nothing but that it failed: a plain request tells why. */
export async function isRefused(): Promise<boolean> {
  try {
    await ask("/api/status", { signal: AbortSignal.timeout(REFUSAL_WITHIN_MS) });
  } catch (error) {
    return error instanceof Refused && error.code === "token_needed";
  }
  return false;
}

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text().catch(() => Promise.reject(new Away())); // it ended in the middle of it
  const body = parsed(text);
  if (answer.ok && body !== undefined) return body;
  if (body === undefined) throw new Refused(String(answer.status), t("This was refused ({status}): {words}", { status: answer.status, words: text.slice(0, SHOWN) }), "");
  const error = (body as { error?: { code?: string; message?: string; hint?: string } }).error;
  throw new Refused(error?.code ?? String(answer.status), error?.message ?? answer.statusText, error?.hint ?? "");
}

/** The server itself may refuse, in plain words. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
