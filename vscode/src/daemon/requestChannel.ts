/**
 * Requests over one socket on which the daemon has proved its identity: between two plain requests, another program
 * could take the port.
 */
import type { Channel, ChannelListener } from "../../../web/src/link/proof";

interface ResponsePart {
  id: number;
  status?: number;
  text: string;
  more: boolean;
}

export interface RawResponse {
  status: number;
  text: string;
}

interface PendingRequest extends RawResponse {
  settle(answer: RawResponse): void;
  fail(error: Error): void;
}

export class RequestChannel {
  private channel: Promise<Channel> | undefined;
  private readonly pending = new Map<number, PendingRequest>();
  private nextId = 1;

  constructor(
    private readonly openChannel: (listener: ChannelListener) => Promise<Channel>,
    private readonly language: string,
  ) {}

  async request(method: string, path: string, body: unknown, withinMs: number): Promise<RawResponse> {
    const signal = AbortSignal.timeout(withinMs);
    const id = this.nextId++;
    const line = await (this.channel ??= this.connect());
    return new Promise<RawResponse>((settle, fail) => {
      this.pending.set(id, { status: 0, text: "", settle, fail });
      signal.addEventListener("abort", () => {
        if (!this.pending.delete(id)) return;
        line.send(JSON.stringify({ id, cancel: true }));
        fail(signal.reason as Error);
      });
      line.send(JSON.stringify({ id, method, path, language: this.language, body }));
    });
  }

  close(): void {
    void this.channel?.then(
      (line) => line.close(),
      () => undefined,
    );
    this.failPending();
  }

  /** Opened at the first request, and again after the connection was lost. */
  private connect(): Promise<Channel> {
    return new Promise((settle, fail) => {
      const closed = () => {
        this.failPending();
        fail(new Error("the daemon does not answer"));
      };
      this.openChannel({
        proved: settle,
        message: (data) => this.handlePart(JSON.parse(String(data)) as ResponsePart),
        closed,
      }).catch(closed);
    });
  }

  private failPending(): void {
    this.channel = undefined;
    for (const { fail } of this.pending.values()) fail(new Error("the connection was lost"));
    this.pending.clear();
  }

  private handlePart({ id, status, text, more }: ResponsePart): void {
    const exchange = this.pending.get(id);
    if (!exchange) return;
    exchange.status = status ?? exchange.status;
    exchange.text += text;
    if (more) return;
    this.pending.delete(id);
    exchange.settle(exchange);
  }
}
