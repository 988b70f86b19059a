/** How a command ended and how long it took, as the list shows it. */
import { t } from "../i18n/t";
import type { Command } from "./toolResults";

/** Exit codes of a command that Ctrl-Z or a background read stopped: it has not ended. */
const SUSPENDED: ReadonlySet<number> = new Set([147, 148, 149, 150]);

export function exitClass(it: Command): string {
  return it.duration_s === null
    ? "running"
    : it.exit_code === 0
      ? "good"
      : it.exit_code === null || SUSPENDED.has(it.exit_code)
        ? "quiet"
        : "bad";
}

export function exitMark(it: Command): string {
  return it.duration_s === null ? "…" : it.exit_code === 0 ? "✓" : String(it.exit_code ?? "?");
}

export function exitText(it: Command): string {
  if (it.duration_s === null) return t("running");
  return it.exit_code === null ? t("exit code unknown") : t("exit code {code}", { code: it.exit_code });
}

export function commandDuration({ duration_s }: Command): string {
  if (duration_s === null) return "";
  if (duration_s < 10) return `${duration_s.toFixed(duration_s < 0.1 ? 3 : 1)} s`;
  const whole = Math.round(duration_s);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
