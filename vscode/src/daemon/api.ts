/** Requests to the daemon, with its token and a deadline. */
import { readToken, type Purpose } from "./files";
import type { Places } from "./places";

const WITHIN_MS = 10_000;

/** What the daemon would not do, in its own words. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export class Api {
  constructor(
    readonly address: string,
    private readonly places: Places,
    readonly language: string,
  ) {}

  token(purpose: Purpose = "page"): Promise<string> {
    return readToken(this.places, purpose);
  }

  async get<T>(path: string, withinMs = WITHIN_MS): Promise<T> {
    return this.ask<T>(path, { method: "GET" }, withinMs);
  }

  async post<T>(path: string, body: unknown, withinMs = WITHIN_MS): Promise<T> {
    return this.ask<T>(path, { method: "POST", body: JSON.stringify(body) }, withinMs);
  }

  private async ask<T>(path: string, init: RequestInit, withinMs: number): Promise<T> {
    const headers = { Authorization: `Bearer ${await this.token()}`, "Accept-Language": this.language };
    const answer = await fetch(this.address + path, { ...init, headers, signal: AbortSignal.timeout(withinMs) });
    const body = (await answer.json()) as T & { error?: { code: string; message: string; hint: string } };
    if (answer.ok) return body;
    throw new Refused(body.error?.code ?? String(answer.status), body.error?.message ?? answer.statusText, body.error?.hint ?? "");
  }
}
