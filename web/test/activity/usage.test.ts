import { expect, test } from "vitest";

import { usageByAgent, type AgentConnection } from "../../src/activity/usage";

const MINUTE = 60e9;
const connection = (client: string, more: Partial<AgentConnection>): AgentConnection => ({
  id: "x",
  client,
  connected_ns: 0,
  ended_ns: null,
  is_connected: false,
  calls: 0,
  characters: 0,
  ...more,
});

test("the connections of one agent are added up, and who is connected comes first", () => {
  const found = usageByAgent(
    [
      connection("b", { ended_ns: 2 * MINUTE, calls: 3, characters: 10 }),
      connection("a", { is_connected: true, connected_ns: MINUTE, calls: 1, characters: 5 }),
      connection("b", { ended_ns: MINUTE, calls: 1, characters: 1 }),
      connection("c", { connected_ns: MINUTE }), // ended with the daemon
    ],
    5 * MINUTE,
  );
  expect(found).toEqual([
    { name: "a", isConnected: true, calls: 1, minutes: 4, characters: 5 },
    { name: "b", isConnected: false, calls: 4, minutes: 3, characters: 11 },
    { name: "c", isConnected: false, calls: 0, minutes: 0, characters: 0 },
  ]);
});
