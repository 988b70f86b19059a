/** The buttons that start a program and send it on, and their keys: those of VS Code. */
import { html } from "lit";
import { t } from "../link";
import type { DebugController } from "./debugController";

export interface Control {
  id: string;
  title: string;
  icon: string;
  key: string;
  /** In which states of the session it does something. */
  when: string[];
  act(controller: DebugController): Promise<unknown>;
}

export const CONTROLS: readonly Control[] = [
  {
    id: "continue",
    title: "Continue",
    icon: "▶",
    key: "F5",
    when: ["Stopped"],
    act: ({ commands }) => commands.run("continue_debugging"),
  },
  {
    id: "over",
    title: "Step over",
    icon: "↷",
    key: "F10",
    when: ["Stopped"],
    act: ({ commands }) => commands.run("step_execution", { step_type: "over" }),
  },
  {
    id: "into",
    title: "Step into",
    icon: "↓",
    key: "F11",
    when: ["Stopped"],
    act: ({ commands }) => commands.run("step_execution", { step_type: "into" }),
  },
  {
    id: "out",
    title: "Step out",
    icon: "↑",
    key: "Shift+F11",
    when: ["Stopped"],
    act: ({ commands }) => commands.run("step_execution", { step_type: "out" }),
  },
  {
    id: "pause",
    title: "Pause",
    icon: "❚❚",
    key: "F6",
    when: ["Running"],
    act: ({ commands }) => commands.run("pause_debugging"),
  },
  {
    id: "unwait",
    title: "Stop waiting",
    icon: "⏏︎",
    key: "Shift+F6",
    when: ["Starting", "Running"],
    act: ({ commands }) => commands.stopWaiting(),
  },
  {
    id: "restart",
    title: "Restart",
    icon: "⟳",
    key: "Ctrl+Shift+F5",
    when: ["Running", "Stopped", "Terminated"],
    act: ({ commands }) => commands.run("restart_debugging"),
  },
  {
    id: "stop",
    title: "Stop",
    icon: "■",
    key: "Shift+F5",
    when: ["Starting", "Running", "Stopped"],
    act: ({ commands }) => commands.run("stop_debugging"),
  },
];
/** Without a live session, the key of "continue" starts what is chosen. */
const START_KEY = "F5";
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
          aria-keyshortcuts=${it.key.replace("Ctrl", "Control")}
          aria-label=${t(it.title)}
          title="${t(it.title)} (${it.key})${HINTS[it.id] ? `\n${t(HINTS[it.id]!)}` : ""}"
          @click=${() => act(it, controller)}
          ><span class="icon" aria-hidden="true">${it.icon}</span
          ><span class="word" aria-hidden="true">${t(it.title)}</span></button
        >`,
    )}
  </div>`;
}

export function pressedKey({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): string {
  return `${ctrlKey || metaKey ? "Ctrl+" : ""}${altKey ? "Alt+" : ""}${shiftKey ? "Shift+" : ""}${key}`;
}

/**
 * F5 reloads a page: it is taken only where a session or something to start can have it, so that a page without either
 * is reloaded as everywhere.
 */
export function handleControlKey(event: KeyboardEvent, controller: DebugController): void {
  const pressed = pressedKey(event);
  const control = CONTROLS.find(({ key }) => key === pressed);
  const { sessions } = controller;
  const starts = pressed === START_KEY && !sessions.isLive;
  if (!control || (starts ? !controller.startable : !sessions.current)) return;
  event.preventDefault();
  if (!starts) act(control, controller);
  else if (!controller.commands.busy) void controller.startShown();
}

/**
 * Not `disabled`: a button that is pressed would lose the focus while it works, and keyboard users could not step
 * again.
 */
function act(control: Control, controller: DebugController): void {
  if (isPossible(control, controller)) void control.act(controller);
  else controller.commands.whenDone(() => act(control, controller));
}

function isPossible({ when, id }: Control, { sessions, commands }: DebugController): boolean {
  return when.includes(sessions.current?.state ?? "") && (!commands.busy || id === "stop" || id === "unwait");
}
