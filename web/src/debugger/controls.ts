/** The buttons that send a program on, and their keys: those of a browser's own debugger, which reload nothing. */
import { html } from "lit";
import { t } from "../link";
import type { Desk } from "./desk";

interface Control {
  id: string;
  title: string;
  icon: string;
  key: string;
  /** In which states of the session it does something. */
  when: string[];
  act(desk: Desk): Promise<void>;
}

const CONTROLS: readonly Control[] = [
  { id: "continue", title: "Continue", icon: "▶", key: "F8", when: ["Stopped"], act: (desk) => desk.run("continue_debugging") },
  { id: "over", title: "Step over", icon: "↷", key: "F10", when: ["Stopped"], act: (desk) => desk.run("step_execution", { step_type: "over" }) },
  { id: "into", title: "Step into", icon: "↓", key: "F11", when: ["Stopped"], act: (desk) => desk.run("step_execution", { step_type: "into" }) },
  { id: "out", title: "Step out", icon: "↑", key: "Shift+F11", when: ["Stopped"], act: (desk) => desk.run("step_execution", { step_type: "out" }) },
  { id: "pause", title: "Pause", icon: "❚❚", key: "F6", when: ["Running"], act: (desk) => desk.run("pause_debugging") },
  { id: "unwait", title: "Stop waiting", icon: "⏏︎", key: "Shift+F6", when: ["Starting", "Running"], act: (desk) => desk.stopWaiting() },
  { id: "restart", title: "Restart", icon: "⟳", key: "Shift+F9", when: ["Running", "Stopped", "Terminated"], act: (desk) => desk.run("restart_debugging") },
  { id: "stop", title: "Stop", icon: "■", key: "Shift+F8", when: ["Starting", "Running", "Stopped"], act: (desk) => desk.run("stop_debugging") },
];
const HINTS: Record<string, string> = { unwait: "Agents that wait for this program are answered now; the program goes on." };

export function controls(desk: Desk) {
  return html`<div class="controls" role="group" aria-label=${t("Run control")}>
    ${CONTROLS.map((it) => html`<button
      id=${it.id} aria-disabled=${!isPossible(it, desk)} aria-keyshortcuts=${it.key} aria-label=${t(it.title)}
      title="${t(it.title)} (${it.key})${HINTS[it.id] ? `\n${t(HINTS[it.id]!)}` : ""}" @click=${() => act(it, desk)}
    ><span class="icon" aria-hidden="true">${it.icon}</span><span class="word" aria-hidden="true">${t(it.title)}</span></button>`)}
  </div>`;
}

export function keyed(event: KeyboardEvent, desk: Desk): void {
  const pressed = `${event.shiftKey ? "Shift+" : ""}${event.key}`;
  const control = CONTROLS.find(({ key }) => key === pressed);
  if (!control || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  act(control, desk);
}

/** Not `disabled`: a button that is pressed while it works would lose the focus, and with it whoever steps by keyboard. */
function act(control: Control, desk: Desk): void {
  if (isPossible(control, desk)) void control.act(desk);
}

function isPossible({ when, id }: Control, desk: Desk): boolean {
  return when.includes(desk.session?.state ?? "") && (!desk.busy || id === "stop" || id === "unwait");
}
