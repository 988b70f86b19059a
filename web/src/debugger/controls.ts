/** The buttons that send a program on, and their keys: those of a browser's own debugger, which reload nothing. */
import { html } from "lit";
import { t } from "../link";
import type { DebugController } from "./debugController";

interface Control {
  id: string;
  title: string;
  icon: string;
  key: string;
  /** In which states of the session it does something. */
  when: string[];
  act(controller: DebugController): Promise<void>;
}

const CONTROLS: readonly Control[] = [
  {
    id: "continue",
    title: "Continue",
    icon: "▶",
    key: "F8",
    when: ["Stopped"],
    act: (controller) => controller.commands.run("continue_debugging"),
  },
  {
    id: "over",
    title: "Step over",
    icon: "↷",
    key: "F10",
    when: ["Stopped"],
    act: (controller) => controller.commands.run("step_execution", { step_type: "over" }),
  },
  {
    id: "into",
    title: "Step into",
    icon: "↓",
    key: "F11",
    when: ["Stopped"],
    act: (controller) => controller.commands.run("step_execution", { step_type: "into" }),
  },
  {
    id: "out",
    title: "Step out",
    icon: "↑",
    key: "Shift+F11",
    when: ["Stopped"],
    act: (controller) => controller.commands.run("step_execution", { step_type: "out" }),
  },
  {
    id: "pause",
    title: "Pause",
    icon: "❚❚",
    key: "F6",
    when: ["Running"],
    act: (controller) => controller.commands.run("pause_debugging"),
  },
  {
    id: "unwait",
    title: "Stop waiting",
    icon: "⏏︎",
    key: "Shift+F6",
    when: ["Starting", "Running"],
    act: (controller) => controller.commands.stopWaiting(),
  },
  {
    id: "restart",
    title: "Restart",
    icon: "⟳",
    key: "Shift+F9",
    when: ["Running", "Stopped", "Terminated"],
    act: (controller) => controller.commands.run("restart_debugging"),
  },
  {
    id: "stop",
    title: "Stop",
    icon: "■",
    key: "Shift+F8",
    when: ["Starting", "Running", "Stopped"],
    act: (controller) => controller.commands.run("stop_debugging"),
  },
];
const HINTS: Record<string, string> = {
  unwait: "Agents waiting for this program get an answer now; the program keeps running.",
};

export function controls(controller: DebugController) {
  return html`<div class="controls" role="group" aria-label=${t("Run control")}>
    ${CONTROLS.map(
      (it) =>
        html`<button
          id=${it.id}
          aria-disabled=${!isPossible(it, controller)}
          aria-keyshortcuts=${it.key}
          aria-label=${t(it.title)}
          title="${t(it.title)} (${it.key})${HINTS[it.id] ? `\n${t(HINTS[it.id]!)}` : ""}"
          @click=${() => act(it, controller)}
          ><span class="icon" aria-hidden="true">${it.icon}</span
          ><span class="word" aria-hidden="true">${t(it.title)}</span></button
        >`,
    )}
  </div>`;
}

export function handleControlKey(event: KeyboardEvent, controller: DebugController): void {
  const pressed = `${event.shiftKey ? "Shift+" : ""}${event.key}`;
  const control = CONTROLS.find(({ key }) => key === pressed);
  if (!control || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  act(control, controller);
}

/**
 * Not `disabled`: a button that is pressed would lose the focus while it works, and keyboard users could not step
 * again.
 */
function act(control: Control, controller: DebugController): void {
  if (isPossible(control, controller)) void control.act(controller);
  else controller.commands.whenDone(() => act(control, controller));
}

function isPossible({ when, id }: Control, controller: DebugController): boolean {
  return (
    when.includes(controller.sessions.current?.state ?? "") &&
    (!controller.commands.busy || id === "stop" || id === "unwait")
  );
}
