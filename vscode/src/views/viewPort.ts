/** The way into a view: what is said before it listens is kept, in order, and no more than it can make use of. */

const KEPT_AT_MOST = 1000;

export interface Sink {
  postMessage(message: unknown): PromiseLike<boolean> | boolean;
}

export class ViewPort<Message> {
  private queue: Message[] = [];
  private sink: Sink | undefined;

  /** The view listens now. */
  open(sink: Sink): void {
    this.sink = sink;
    const { queue: waiting } = this;
    this.queue = [];
    for (const message of waiting) void sink.postMessage(message);
  }

  /** The view was closed, or reloads. */
  close(): void {
    this.sink = undefined;
  }

  post(message: Message): void {
    if (this.sink) void this.sink.postMessage(message);
    else this.queue = [...this.queue, message].slice(-KEPT_AT_MOST);
  }
}
