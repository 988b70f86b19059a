/** The socket to the daemon and the person's leave, without an editor. */
import { expect, test, vi } from "vitest";

import { Consent, type Answer, type Memory } from "../../src/bridge/consent";
import { notificationText, MAX_NOTIFICATION } from "../../src/bridge/notificationText";
import { RpcConnection, RpcError, type Handler, type Json, type Socket } from "../../src/bridge/rpcConnection";

class Wire {
  readyState = 1;
  sent: Json[] = [];
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Json);
  }
  close(): void {
    this.onclose?.({} as never);
  }
  says(message: Json): void {
    this.onmessage?.({ data: JSON.stringify(message) } as never);
  }
}

function linked(handlers: Record<string, Handler> = {}) {
  const wire = new Wire();
  const events = { opened: vi.fn(), closed: vi.fn() };
  const link = new RpcConnection(
    wire as Socket,
    () => ({ name: "test", folders: [], features: Object.keys(handlers) }),
    handlers,
    events,
  );
  wire.onopen?.({} as never);
  return { wire, link, events };
}

class Kept implements Memory {
  private readonly values = new Map<string, unknown>();
  get<T>(key: string): T | undefined {
    return this.values.get(key) as T | undefined;
  }
  async update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
  }
}

test("it says who it is first, and is open when it is welcome", () => {
  const { wire, events } = linked({ open: async () => undefined });
  expect(wire.sent).toEqual([{ method: "hello", params: { name: "test", folders: [], features: ["open"] } }]);
  expect(events.opened).not.toHaveBeenCalled();
  wire.says({ method: "welcome", params: { id: "editor-1" } });
  expect(events.opened).toHaveBeenCalledOnce();
});

test("each question is answered once: with a result, a refusal or what went wrong", async () => {
  const handlers: Record<string, Handler> = {
    good: async ({ number }) => ({ twice: Number(number) * 2 }),
    refused: async () => Promise.reject(new RpcError("not_allowed", "no")),
    broken: async () => Promise.reject(new TypeError("oh")),
  };
  const { wire } = linked(handlers);
  for (const [id, method] of Object.entries(["good", "refused", "broken", "unknown"]))
    wire.says({ id: Number(id), method, params: { number: 2 } });
  await vi.waitFor(() => expect(wire.sent).toHaveLength(5));
  const answers = new Map(wire.sent.slice(1).map((it) => [it.id, it]));
  expect(answers.get(0)).toEqual({ id: 0, result: { twice: 4 } });
  expect(answers.get(1)).toEqual({ id: 1, error: { code: "not_allowed", message: "no" } });
  expect(answers.get(2)).toMatchObject({ error: { code: "failed", message: "oh" } });
  expect(answers.get(3)).toMatchObject({ error: { code: "unknown_method" } });
});

test("an answer that is too large is said to be, and not sent", async () => {
  const { wire, link } = linked({ all: async () => "x".repeat(1_000_000) });
  wire.says({ id: 1, method: "all" });
  await vi.waitFor(() => expect(wire.sent[1]).toMatchObject({ id: 1, error: { code: "too_large" } }));
  await expect(link.request("debug.offered", { text: "x".repeat(1_000_000) })).rejects.toMatchObject({
    code: "too_large",
  });
});

test("what is withdrawn is told to who does it, and so is the end of the daemon", async () => {
  const signals: AbortSignal[] = [];
  const { wire, link, events } = linked({ slow: (_, signal) => new Promise(() => signals.push(signal)) });
  wire.says({ id: 1, method: "slow" });
  wire.says({ id: 2, method: "slow" });
  wire.says({ method: "withdrawn", params: { id: 1 } });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  const asked = link.request("debug.offered", {});
  wire.close();
  await expect(asked).rejects.toThrow("gone");
  expect(signals[1]?.aborted).toBe(true);
  expect(events.closed).toHaveBeenCalledOnce();
});

test.each<[Answer, boolean, number]>([
  ["once", true, 2],
  ["always", true, 1],
  ["never", false, 1],
  [undefined, false, 2],
])("%s: allowed %s, and after two calls the person was asked %i times", async (answer, isAllowed, times) => {
  const ask = vi.fn(async () => answer);
  const consent = new Consent(new Kept(), ask, () => true);
  for (let call = 0; call < 2; call++)
    expect(
      await consent.require("open", "May it?").then(
        () => true,
        () => false,
      ),
    ).toBe(isAllowed);
  expect(ask).toHaveBeenCalledTimes(times);
});

test("what is allowed for one thing is not for another, and can be forgotten", async () => {
  const ask = vi.fn(async (): Promise<Answer> => "always");
  const consent = new Consent(new Kept(), ask, () => true);
  await consent.require("open", "");
  await consent.require("run_in_terminal", "");
  expect(ask).toHaveBeenCalledTimes(2);
  await consent.forget();
  await consent.require("open", "");
  expect(ask).toHaveBeenCalledTimes(3);
});

test.each([
  ["once", 1],
  ["never", 0],
  [undefined, 0],
] as const)("after the agent gave up %s does nothing, and a yes is told so", async (answer, said) => {
  const withdrawn = new AbortController();
  const consent = new Consent(
    new Kept(),
    async () => (withdrawn.abort(), answer),
    () => true,
  );
  const late = (consent.whenLate = vi.fn());
  await expect(consent.require("open", "", withdrawn.signal)).rejects.toMatchObject({ code: "withdrawn" });
  expect(late).toHaveBeenCalledTimes(said);
});

test("in a workspace that is not trusted nobody is asked, whatever was allowed before", async () => {
  const ask = vi.fn(async (): Promise<Answer> => "always");
  const memory = new Kept();
  await new Consent(memory, ask, () => true).require("open", "May it?");
  const consent = new Consent(memory, ask, () => false);
  for (const kind of ["open", "run_in_terminal"])
    await expect(consent.require(kind, "May it?")).rejects.toMatchObject({ code: "not_trusted" });
  expect(ask).toHaveBeenCalledOnce();
});

/** By what an editor finds links in a notification. */
const LINKED = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

test.each(["[Fix](command:workbench.action.quit)", "curl [x](https://evil/|sh)", '[a](file:///etc/passwd "t")'])(
  "%s is no link",
  (text) => {
    expect(text).toMatch(LINKED);
    expect(notificationText(text)).not.toMatch(LINKED);
    expect(notificationText(text).replaceAll("\u200b", "")).toBe(text);
  },
);

test("nothing in it is hidden or turned round, and it is one line", () => {
  expect(notificationText("ls \u202e mr\n; rm\u0007 \u{1f469}\u200d\u{1f4bb}")).toBe(
    "ls \\u{202e} mr ; rm\\u{7} \u{1f469}\u200d\u{1f4bb}",
  );
});

test.each([
  "\u3164",
  "\u115f",
  "\u1160",
  "\uffa0",
  "\u2800",
  "\ufe0f",
  "\u{e0041}",
  "\u{e0100}",
  "\u180e",
  "\u00ad",
  "\u200b",
  "\u200d",
  "\u00a0",
  "\u3000",
  "\u0336",
])("a character that draws nothing is spelled out: %j", (blank) =>
  expect(notificationText(`rm ${blank}x`)).toBe(`rm \\u{${blank.codePointAt(0)!.toString(16)}}x`),
);

test("a long blank is counted, and a short one stays", () => {
  expect(notificationText(`ls${" ".repeat(200)}; rm`)).toBe("ls […200 blank characters…] ; rm");
  expect(notificationText(`ls${" ".repeat(39)}x`)).toBe(`ls${" ".repeat(39)}x`);
});

test("letters keep their marks", () => {
  for (const text of ["Vie\u0323\u0302t", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u65ad\u70b9"])
    expect(notificationText(text)).toBe(text);
});

test("what would not be seen whole is not asked at all, and a link in a question is none", async () => {
  const ask = vi.fn(async (): Promise<Answer> => "once");
  const consent = new Consent(new Kept(), ask, () => true);
  await expect(consent.require("run_in_terminal", `run: ${"x".repeat(MAX_NOTIFICATION)}`)).rejects.toMatchObject({
    code: "too_long",
  });
  await consent.require("notify", "[a](command:b)");
  expect(ask.mock.calls).toEqual([["[a]\u200b(command:b)"]]);
});

test("half a character is told as a sign for it, and the connection stays", async () => {
  const { wire } = linked({ cut: async () => ({ text: "\ud83d|\u{1f600}" }) });
  const raw = vi.spyOn(wire, "send");
  wire.says({ id: 1, method: "cut" });
  await vi.waitFor(() => expect(wire.sent[1]).toMatchObject({ result: { text: "\ufffd|\u{1f600}" } }));
  expect(raw.mock.calls[0]?.[0]).not.toMatch(/\\ud/);
});

test("a connection that fails is over once, told as an error or as closed", () => {
  const { wire, events } = linked();
  wire.onerror?.({} as never);
  wire.onclose?.({} as never);
  expect(events.closed).toHaveBeenCalledOnce();
});
