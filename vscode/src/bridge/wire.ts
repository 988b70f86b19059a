/** A proved line to the daemon, as the socket that `Link` speaks over. */
import type { Line, Listener } from "../../../web/src/link/proof";
import type { Socket } from "./link";

const [CONNECTING, OPEN, CLOSED] = [0, 1, 3];

export class Wire implements Socket, Listener {
  readyState = CONNECTING;
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  private line: Line | undefined;

  proved(line: Line): void {
    if (this.readyState === CLOSED) return line.close();
    this.line = line;
    this.readyState = OPEN;
    this.onopen?.({} as never);
  }

  message(data: string | ArrayBuffer): void {
    this.onmessage?.({ data } as never);
  }

  closed(): void {
    this.readyState = CLOSED;
    this.onclose?.({} as never);
  }

  send(text: string): void {
    this.line?.send(text);
  }

  close(): void {
    this.line?.close();
    this.closed();
  }
}
