/** The daemon's sockets and requests. Each begins with a proof of both sides, so that no secret ever travels: a listener
 * that is not the daemon learns nothing that it could use. */
import { dial, type Line, type Listener } from "../../../web/src/link/proof";
import { Calls } from "./calls";
import { readToken } from "./files";
import type { Home } from "./home";
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
  private readonly calls: Calls;

  constructor(
    private readonly home: Home,
    private readonly places: Places,
    readonly language: string,
  ) {
    this.calls = new Calls((listener) => this.dial("/link/calls", listener), language);
  }

  /** The key is in a file that is ours alone. It is proved with, for this start of the daemon and no other. */
  async dial(path: string, listener: Listener): Promise<Line> {
    const secret = await readToken(this.places, "editor");
    return dial(this.home.authority, path, { id: "editor", secret, instance: this.home.instance }, listener);
  }

  async get<T>(path: string, withinMs = WITHIN_MS): Promise<T> {
    return this.ask<T>("GET", path, undefined, withinMs);
  }

  async post<T>(path: string, body: unknown, withinMs = WITHIN_MS): Promise<T> {
    return this.ask<T>("POST", path, body, withinMs);
  }

  close(): void {
    this.calls.close();
  }

  private async ask<T>(method: string, path: string, body: unknown, withinMs: number): Promise<T> {
    const { status, text } = await this.calls.ask(method, path, body, withinMs);
    const answer = JSON.parse(text) as T & { error?: { code: string; message: string; hint: string } };
    if (status < 400) return answer;
    throw new Refused(answer.error?.code ?? String(status), answer.error?.message ?? String(status), answer.error?.hint ?? "");
  }
}
