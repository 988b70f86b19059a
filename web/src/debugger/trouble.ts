/** What the daemon would not do, in its own words. */
import { Refused } from "../link";
import type { Trouble } from "./answers";

export function refused(data: Record<string, unknown>, text: string): Trouble {
  const { shown: wouldRun = "", folder = "" } = (data["details"] ?? {}) as { shown?: string; folder?: string };
  const untrusted = data["code"] === "needs_trust" ? folder : "";
  return { message: String(data["message"] ?? text), hint: String(data["hint"] ?? ""), wouldRun, untrusted };
}

export function told(error: unknown): Trouble {
  return error instanceof Refused
    ? { message: error.message, hint: error.hint }
    : { message: (error as Error).message, hint: "" };
}
