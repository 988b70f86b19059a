/** An authenticated channel to the daemon, as the socket that `Link` uses. */
import type { Channel, ChannelListener } from "../../../web/src/link/proof";
import type { Socket } from "./rpcConnection";

const [CONNECTING, OPEN, CLOSED] = [0, 1, 3];

export class ChannelSocket implements Socket, ChannelListener {
  readyState = CONNECTING;
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  private channel: Channel | undefined;

  proved(line: Channel): void {
    if (this.readyState === CLOSED) return line.close();
    this.channel = line;
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
    this.channel?.send(text);
  }

  close(): void {
    this.channel?.close();
    this.closed();
  }
}
