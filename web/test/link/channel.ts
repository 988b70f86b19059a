/** A proved socket to the daemon, as the modules of `src/link` get it: what is sent is kept, and the test answers. Mock
 *  `src/link/session` with it. */
import type { Channel, ChannelListener, CloseReason } from "../../src/link/proof";
import type { Json } from "../daemon";

export class FakeChannel implements Channel {
  sent: Json[] = [];
  isClosed = false;

  constructor(
    readonly path: string,
    readonly listener: ChannelListener,
  ) {}

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Json);
  }

  close(): void {
    this.isClosed = true;
  }

  prove(): void {
    this.listener.proved(this, {} as Parameters<ChannelListener["proved"]>[1]);
  }

  receive(message: Json): void {
    this.listener.message(JSON.stringify(message));
  }

  end(why: CloseReason = "ended", code = 1006): void {
    this.listener.closed(why, code);
  }
}

export const channels: FakeChannel[] = [];

export const session = {
  channels,
  hasSession: true,
  openDaemonChannel(path: string, listener: ChannelListener): FakeChannel | null {
    if (!session.hasSession) return null;
    channels.push(new FakeChannel(path, listener));
    return channels.at(-1)!;
  },
};
