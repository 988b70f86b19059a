/** The server's connection to its gateway, as the four states that are shown. */

export interface GatewayStatus {
  state: string;
  address: string;
  code: string;
  reason: string;
  hint: string;
  /** `ADDRESS USER`: the server that would get the token, if it runs as another user. */
  untrusted_server: string;
}

export type GatewayState = "disconnected" | "connecting" | "connected" | "error";

/** States that wait for a person (pairing, missing rights, a pause, the last attempt) do not count as connected. */
const STATES: Record<string, GatewayState> = {
  disconnected: "disconnected",
  connecting: "connecting",
  connected: "connected",
  degraded: "error",
  pairing_required: "error",
  paused: "error",
  error: "error",
};

export function stateOf(status: { state: string } | undefined): GatewayState {
  return status ? (STATES[status.state] ?? "error") : "disconnected";
}
