/** How a breakpoint looks: its shape says who set it, its filling whether it stops the program. */
import { css } from "lit";
import { t } from "../link";
import { actorName, isPerson } from "../parts/actors";
import type { Breakpoint } from "../debugger/toolResults";

/** `isLive`: whether there is a debugger that could have bound it. */
export function markClasses(it: Breakpoint, isLive: boolean): string {
  const state = !it.enabled ? "off" : it.verified || !isLive ? "set" : "waiting";
  const kind = it.log_message ? "logs" : it.condition || it.hit_condition ? "conditional" : "";
  return ["mark", isPerson(it.owner) ? "person" : "agent", state, kind].filter(Boolean).join(" ");
}

/** The conditions of a breakpoint, as short as a list has room for. */
export function conditionText({ condition, hit_condition, log_message }: Breakpoint): string {
  return [
    condition && t("if {condition}", { condition }),
    hit_condition && t("hits: {count}", { count: hit_condition }),
    log_message && t("logs: {text}", { text: log_message }),
  ]
    .filter(Boolean)
    .join("; ");
}

/** What the mark means, who set it, and what the debugger reports about it. */
export function breakpointTitle(it: Breakpoint, isLive: boolean): string {
  const owner = ownerName(it);
  const kind = it.log_message ? t("Logpoint") : t("Breakpoint");
  return [
    owner ? t("{kind}, set by {who}", { kind, who: owner }) : kind,
    conditionText(it),
    !it.enabled ? t("Turned off.") : !it.verified && isLive ? t("The debugger has not bound it.") : "",
    it.message,
  ]
    .filter(Boolean)
    .join("\n");
}

export function ownerName(it: Breakpoint): string {
  return it.owner ? actorName(it.owner) : (it.set_by ?? "");
}

export const markStyles = css`
  .mark {
    display: inline-block;
    position: relative;
    flex: none;
    width: 11px;
    height: 11px;
    border: 2px solid var(--mark);
    background: var(--mark);
    --mark: var(--bad);
  }
  .mark.person {
    border-radius: 50%;
  }
  .mark.agent {
    --mark: var(--agent);
    transform: rotate(45deg) scale(0.86);
    border-radius: 1px;
  }
  .mark.waiting,
  .mark.logs,
  .mark.off {
    background: none;
  }
  .mark.off {
    --mark: var(--quiet);
  }
  .mark.logs::after {
    content: "";
    position: absolute;
    inset: 2px;
    border-radius: inherit;
    background: var(--mark);
  }
  .mark.conditional::after {
    content: "";
    position: absolute;
    left: 0;
    right: 0;
    top: 1px;
    height: 5px;
    border: solid var(--card);
    border-width: 1.5px 0;
  }
  .mark.agent.conditional::after {
    transform: rotate(-45deg);
  }
  .mark.off.conditional::after,
  .mark.waiting.conditional::after {
    border-color: var(--mark);
  }
`;
