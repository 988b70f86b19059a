/** One connection of an agent, as the daemon reports it. */
export interface AgentConnection {
  id: string;
  client: string;
  connected_ns: number;
  ended_ns: number | null;
  is_connected: boolean;
  calls: number;
  characters: number;
}

/** All connections of agents with one name. */
export interface AgentTotals {
  name: string;
  isConnected: boolean;
  calls: number;
  minutes: number;
  characters: number;
}

const MINUTE_NS = 60e9;

/** Those that are connected first, then those that came last. */
export function usageByAgent(connections: readonly AgentConnection[], nowNs: number): AgentTotals[] {
  const totals = new Map<string, AgentTotals & { ns: number }>();
  for (const it of connections) {
    const name = it.client;
    const sum = totals.get(name) ?? { name, isConnected: false, calls: 0, minutes: 0, characters: 0, ns: 0 };
    // One that ended with the daemon left no end behind.
    const end = it.ended_ns ?? (it.is_connected ? nowNs : it.connected_ns);
    sum.isConnected ||= it.is_connected;
    sum.calls += it.calls;
    sum.characters += it.characters;
    sum.ns += Math.max(0, end - it.connected_ns);
    totals.set(name, sum);
  }
  return [...totals.values()]
    .map(({ ns, ...sum }) => ({ ...sum, minutes: Math.ceil(ns / MINUTE_NS) }))
    .toSorted((a, b) => Number(b.isConnected) - Number(a.isConnected));
}
