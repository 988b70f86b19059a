/** Requests over one socket whose other end has proved to be the daemon: between two plain requests a port can change hands. */
import type { Line, Listener } from "../../../web/src/link/proof";

interface Piece {
  id: number;
  status?: number;
  text: string;
  more: boolean;
}

export interface Answered {
  status: number;
  text: string;
}

interface Exchange extends Answered {
  settle(answer: Answered): void;
  fail(error: Error): void;
}

export class Calls {
  private line: Promise<Line> | undefined;
  private readonly open = new Map<number, Exchange>();
  private nextId = 1;

  constructor(
    private readonly dial: (listener: Listener) => Promise<Line>,
    private readonly language: string,
  ) {}

  async ask(method: string, path: string, body: unknown, withinMs: number): Promise<Answered> {
    const signal = AbortSignal.timeout(withinMs);
    const id = this.nextId++;
    const line = await (this.line ??= this.dialled());
    return new Promise<Answered>((settle, fail) => {
      this.open.set(id, { status: 0, text: "", settle, fail });
      signal.addEventListener("abort", () => {
        if (!this.open.delete(id)) return;
        line.send(JSON.stringify({ id, cancel: true }));
        fail(signal.reason as Error);
      });
      line.send(JSON.stringify({ id, method, path, language: this.language, body }));
    });
  }

  close(): void {
    void this.line?.then((line) => line.close(), () => undefined);
    this.lost();
  }

  /** Opened when somebody asks, and again after it was lost. */
  private dialled(): Promise<Line> {
    return new Promise((settle, fail) => {
      const closed = () => {
        this.lost();
        fail(new Error("the daemon does not answer"));
      };
      this.dial({ proved: settle, message: (data) => this.heard(JSON.parse(String(data)) as Piece), closed }).catch(closed);
    });
  }

  private lost(): void {
    this.line = undefined;
    for (const { fail } of this.open.values()) fail(new Error("the connection was lost"));
    this.open.clear();
  }

  private heard({ id, status, text, more }: Piece): void {
    const exchange = this.open.get(id);
    if (!exchange) return;
    exchange.status = status ?? exchange.status;
    exchange.text += text;
    if (more) return;
    this.open.delete(id);
    exchange.settle(exchange);
  }
}
