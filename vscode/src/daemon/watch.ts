/** Whether the daemon runs and what lives in it, as the daemon itself says: so all windows agree.
 *
 * While it runs, its feed tells; when the feed ends, the daemon is gone or on its way back, and is looked for (`home.ts`)
 * until there is a feed again.
 */
import { Api } from "./api";
import { findHome, type Home } from "./home";
import type { Line, Why } from "../../../web/src/link/proof";
import type { Places } from "./places";
import type { Known, Row, Status } from "./status";

const LOOK_EVERY_MS = 250;
const GATHER_MS = 50;
const ASK_EVERY_MS = 5000;
const ANSWERS_WITHIN_MS = 3000;
/** What may change the list of live sessions. */
const LIVES = /^(debug\.(started|ended|failed)|terminal\.|chat\.)/;

type Message = { type: "snapshot" | "gap"; state: Status } | { type: "events"; events: Row[] };
/** `died`: it is gone, and did not say that it goes. */
export type Listener = { known?(known: Known): void; events?(rows: Row[]): void; died?(): void };
/** What a socket says of an end that the other side did not announce. */
const NOBODY_SAID = 1006;

export class Watch {
  known: Known = { state: "unknown" };
  api: Api | undefined;
  private readonly listeners = new Set<Listener>();
  private line: Line | undefined;
  private timers = new Set<NodeJS.Timeout>();
  private gathering = false;
  private isEnded = false;
  /** Its feed broke off without a word: whether it lives, the next look tells. */
  private isMissed = false;

  constructor(
    private readonly places: Places,
    private readonly language: string,
  ) {}

  listen(listener: Listener): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  begin(): void {
    this.after(0, () => this.look());
  }

  dispose(): void {
    this.isEnded = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.line?.close();
    this.api?.close();
  }

  /** The next answer of the daemon that fits, or the present one. */
  async until(fits: (known: Known) => boolean, withinMs: number): Promise<boolean> {
    if (fits(this.known)) return true;
    return new Promise((settle) => {
      const end = (answer: boolean) => {
        clearTimeout(timer);
        heard.dispose();
        settle(answer);
      };
      const heard = this.listen({ known: (known) => fits(known) && end(true) });
      const timer = setTimeout(() => end(false), withinMs);
    });
  }

  private async look(): Promise<void> {
    const home = await findHome(this.places, this.language).catch(() => undefined);
    if (this.isEnded) return;
    if (home) await this.connect(home);
    else this.lost();
  }

  private async connect(home: Home): Promise<void> {
    const api = new Api(home, this.places, this.language);
    let [isOpen, isOver] = [false, false];
    const closed = (why: Why, code: number) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      api.close();
      this.lost(isOpen && this.known.state === "running" && why === "ended" && brokeOff(code));
    };
    const message = (data: string | ArrayBuffer) => {
      clearTimeout(deadline);
      if (!isOpen && this.line) this.begun(api, this.line);
      isOpen = true;
      this.heard(JSON.parse(String(data)) as Message);
    };
    const deadline = setTimeout(() => {
      this.line?.close();
      closed("unreachable", 0);
    }, ANSWERS_WITHIN_MS);
    try {
      const line = await api.dial("/link/feed", { proved: () => undefined, message, closed });
      if (this.isEnded) line.close();
      else this.line = line;
    } catch {
      closed("unreachable", 0);
    }
  }

  private begun(api: Api, line: Line): void {
    this.api = api;
    this.isMissed = false;
    this.askNowAndThen(line);
  }

  private lost(isMissed = false): void {
    this.line = undefined;
    this.api = undefined;
    if (this.isEnded) return;
    if (this.isMissed && !isMissed) for (const { died } of this.listeners) died?.();
    this.isMissed = isMissed;
    this.become({ state: "stopped" });
    this.after(LOOK_EVERY_MS, () => this.look());
  }

  private heard(message: Message): void {
    if (message.type !== "events") {
      this.become({ state: "running", status: message.state });
      return;
    }
    for (const { events } of this.listeners) events?.(message.events);
    if (message.events.some(({ event }) => LIVES.test(event.kind))) this.gather();
  }

  /** Many events in a row are one question. */
  private gather(): void {
    if (this.gathering) return;
    this.gathering = true;
    this.after(GATHER_MS, async () => {
      this.gathering = false;
      await this.ask();
    });
  }

  /** A process that hangs keeps its connections: only an answer proves that it lives. */
  private askNowAndThen(line: Line): void {
    this.after(ASK_EVERY_MS, async () => {
      if (line !== this.line) return;
      await this.ask();
      this.askNowAndThen(line);
    });
  }

  private async ask(): Promise<void> {
    const asked = this.api;
    try {
      const status = await asked?.get<Status>("/api/status", ANSWERS_WITHIN_MS);
      if (status && asked === this.api) this.become({ state: "running", status });
    } catch {
      if (asked && asked === this.api) this.become({ state: "silent" });
    }
  }

  private become(known: Known): void {
    if (known.state !== "running" && known.state === this.known.state) return;
    this.known = known;
    for (const { known: tell } of this.listeners) tell?.(known);
  }

  private after(ms: number, action: () => unknown): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void action();
    }, ms);
    this.timers.add(timer);
  }
}

function brokeOff(code: number): boolean {
  return (code || NOBODY_SAID) === NOBODY_SAID;
}
