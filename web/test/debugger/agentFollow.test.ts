import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { AgentFollow } from "../../src/debugger/agentFollow";
import type { Session } from "../../src/debugger/toolResults";
import { daemon, settled } from "../daemon";

const AGENT = "mcp-0123456789abcdef";
const listed = ["s1", "s2"].map((session_id) => ({ session_id }) as Session);
const acted = (session: string, by: string, kind = "debug.resumed") => [
  { sequence: 1, at_ns: 1, event: { kind, session, body: { by } } },
];
let follow: AgentFollow;

beforeEach(async () => {
  daemon.start({});
  follow = new AgentFollow(() => undefined);
  await settled();
});

test("the view moves to the session of an agent that acts, once", () => {
  follow.add(acted("s2", AGENT));
  expect(follow.take(listed)?.session_id).toBe("s2");
  expect(follow.take(listed)).toBeUndefined();
});

test("a session that is not listed yet is waited for", () => {
  follow.add(acted("s3", AGENT, "debug.started"));
  expect(follow.take(listed)).toBeUndefined();
  expect(follow.take([...listed, { session_id: "s3" } as Session])?.session_id).toBe("s3");
});

test.each(["page", "shell", "person-vscode:Code"])("what %s does moves nobody to another session", (by) => {
  follow.add(acted("s2", by));
  expect(follow.take(listed)).toBeUndefined();
  expect(follow.leadsTo("s2")).toBe(true);
});

test("turned off, an agent's stop moves nothing, a person's own step still does, and the choice is kept", () => {
  follow.turn(false);
  follow.add(acted("s1", AGENT));
  expect([follow.take(listed), follow.leadsTo("s1")]).toEqual([undefined, false]);
  follow.personActs("s1");
  expect(follow.leadsTo("s1")).toBe(true);
  expect(daemon.askedFor("change preferences")).toEqual([{ follows_agent: false }]);
});

test("the choice of an earlier visit counts", async () => {
  daemon.answers["preferences"] = () => ({ follows_agent: false });
  follow = new AgentFollow(() => undefined);
  await settled();
  expect(follow.isOn).toBe(false);
});
