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

/** What waits for a person (pairing, rights that are missing, a pause, the last attempt) is not a connection. */
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
