/**
 * The daemon's sockets and requests. Each begins with a proof of both sides, so that no secret ever travels: a listener
 * that is not the daemon learns nothing that it could use.
 */
import { openChannel, type Channel, type ChannelListener } from "../../../web/src/link/proof";
import { RequestChannel } from "./requestChannel";
import { readToken } from "./stateFiles";
import type { Endpoint } from "./endpoint";
import type { Places } from "./places";

const WITHIN_MS = 10_000;

/** Why the daemon refused, in its own words. */
export class RequestError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export class Api {
  private readonly channel: RequestChannel;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly places: Places,
    readonly language: string,
  ) {
    this.channel = new RequestChannel((listener) => this.openChannel("/link/calls", listener), language);
  }

  /** The key is in a file that is ours alone. It is proved with, for this start of the daemon and no other. */
  async openChannel(path: string, listener: ChannelListener): Promise<Channel> {
    const secret = await readToken(this.places, "editor");
    return openChannel(
      this.endpoint.authority,
      path,
      { id: "editor", secret, instance: this.endpoint.instance },
      listener,
    );
  }

  async get<T>(path: string, withinMs = WITHIN_MS): Promise<T> {
    return this.request<T>("GET", path, undefined, withinMs);
  }

  async post<T>(path: string, body: unknown, withinMs = WITHIN_MS): Promise<T> {
    return this.request<T>("POST", path, body, withinMs);
  }

  close(): void {
    this.channel.close();
  }

  private async request<T>(method: string, path: string, body: unknown, withinMs: number): Promise<T> {
    const { status, text } = await this.channel.request(method, path, body, withinMs);
    const answer = JSON.parse(text) as T & { error?: { code: string; message: string; hint: string } };
    if (status < 400) return answer;
    throw new RequestError(
      answer.error?.code ?? String(status),
      answer.error?.message ?? String(status),
      answer.error?.hint ?? "",
    );
  }
}
