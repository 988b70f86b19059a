/** Stands for the daemon behind `src/link`: answers by name, and remembers what it was asked. Mock the module with it:
 *
 *      vi.mock("../src/link", async () => (await import("./daemon")).link);
 */
import { vi } from "vitest";
import { t } from "../src/i18n/t";
import { RequestError } from "../src/link/requests";
import { ignoreUnreachable, Unreachable } from "../src/link/unreachable";

export type Json = Record<string, unknown>;
type Answer = (args: Json, workspace: string) => unknown;

interface Listener {
  events?(rows: unknown[]): void;
  reset?(snapshot: { sequence: number; state: Json }): void;
  erased?(): void;
}

/** What a tool answers with when it refuses. */
export class Refused extends Error {
  constructor(readonly data: Json) {
    super(String(data["message"]));
  }
}

class Daemon {
  /** By the name of a tool, or by the path of a request. */
  answers: Record<string, Answer> = {};
  asked: [string, Json][] = [];
  listener: Listener = {};
  /** The pieces of an answer that comes bit by bit. */
  stream: (signal: AbortSignal) => AsyncIterable<string> = () => {
    throw new Unreachable();
  };

  start(answers: Record<string, Answer>): void {
    Object.assign(this, { answers, asked: [], listener: {} });
  }

  askedFor(name: string): Json[] {
    return this.asked.filter(([it]) => it === name).map(([, args]) => args);
  }

  async request(name: string, args: Json = {}, workspace = ""): Promise<unknown> {
    this.asked.push([name, args]);
    return (await this.answers[name]?.(args, workspace)) ?? {};
  }

  async call(tool: string, args: Json, workspace = "") {
    try {
      return { data: await this.request(tool, args, workspace), text: "", is_error: false };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { data: error.data, text: error.message, is_error: true };
    }
  }
}

export const daemon = new Daemon();

/** An answer that is given when the test says so. */
export function held() {
  const given: ((answer: unknown) => void)[] = [];
  const answer = () => new Promise((settle) => given.push(settle));
  return { answer, given };
}

/** Lets everything run that waits for nothing but answers. */
export const settled = () => new Promise((go) => setTimeout(go, 0));

/** What a view gives its controller. */
export const host = () => ({ addController: () => undefined, requestUpdate: vi.fn(), checkVisibility: () => true });

export const link = {
  t,
  RequestError,
  Unreachable,
  ignoreUnreachable,
  feed: {
    state: "connected",
    subscribe(_: unknown, listener: Listener) {
      daemon.listener = listener;
      return () => (daemon.listener = {});
    },
  },
  stream: (_path: string, _body: Json, signal: AbortSignal) => daemon.stream(signal),
  request: (path: string) => daemon.request(path),
  post: (path: string, body: Json) =>
    path === "/api/call"
      ? daemon.call(String(body["tool"]), body["arguments"] as Json, String(body["workspace"]))
      : daemon.request(path, body),
  callTool: (tool: string, args: Json, wide = false) => daemon.call(tool, { ...args, wide }),
  savedPreferences: async () => ({
    pane_sizes: {},
    folded_panes: [],
    follows_agent: true,
    evaluated: {},
    ...((await daemon.request("preferences")) as Json),
  }),
  changePreferences: (change: Json) => daemon.request("change preferences", change),
  savedWatches: async () => (await daemon.request("watches")) as string[],
  changeWatches: async (change: Json) => (await daemon.request("change", change)) as string[],
};
