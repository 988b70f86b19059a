/** The threads of the program, and the call stack of one of them; or that of the past stop that is shown. */
import { css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import type { PastFrame } from "../../replay/pastStops";
import type { Frame, Thread } from "../toolResults";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-stack-pane")
export class StackPane extends DebuggerPane {
  override render() {
    const { pastStop: then } = this.controller.history;
    if (then) return this.stack(then.frames.map((it) => this.pastFrame(it)));
    const { shownStack, frame } = this.controller.inspection;
    if (!shownStack) return html`${this.hang()}`;
    const left = shownStack.total - shownStack.frames.length;
    return html`${this.threads()}
    ${this.stack(shownStack.frames.map((it) => this.renderFrame(it, it.frame_id === frame?.frame_id)))}
    ${left > 0 ? html`<p class="none">${t("and {count} more", { count: left })}</p>` : nothing}`;
  }

  /** Only a program that runs can hang. */
  private hang() {
    const { sessions, inspection, commands } = this.controller;
    const isRunning = sessions.current?.state === "Running";
    return html`<p class="none">${t(isRunning ? "The program is running." : "The program is not stopped.")}</p> ${
        isRunning
          ? html`<button
              id="hang"
              class="hang"
              title=${t("Pauses the program, and shows where each thread and task is and what it waits for.")}
              aria-disabled=${commands.busy}
              @click=${() => commands.busy || void inspection.findHang()}
              >${t("Where does it hang?")}</button
            >`
          : nothing
      }`;
  }

  private threads() {
    const { threads, stop } = this.controller.inspection;
    if (threads.all.length < 2) return nothing;
    const chosen = threads.stack?.thread ?? stop?.thread_id;
    return html`<ul class="threads" aria-label=${t("Threads")}
      >${threads.all.map((it) => this.thread(it, it.thread_id === chosen))}</ul
    >`;
  }

  private thread(it: Thread, isChosen: boolean) {
    const { file_path = "", line_number = 0 } = it;
    const isStopped = it.state === "stopped";
    return html`<li
      ><button
        class="plain item ${isChosen ? "chosen" : ""}"
        aria-pressed=${isChosen}
        ?disabled=${!isStopped}
        title="${it.name}: ${t(it.state)}"
        @click=${() => this.controller.inspection.selectThread(it.thread_id)}
        ><span class="dot ${it.state}" aria-hidden="true"></span><span class="grow">${it.name}</span
        ><span class="quiet"
          >${t(it.state)}${file_path ? html` <span class="mono">${baseName(file_path)}:${line_number}</span>` : nothing}</span
        ></button
      ></li
    >`;
  }

  private stack(frames: unknown[]) {
    return html`<ul id="stack" aria-label=${t("Call stack")}
      >${frames}</ul
    >`;
  }

  private renderFrame(it: Frame, isChosen: boolean) {
    return html`<li
      ><button
        class="plain item mono ${isChosen ? "chosen" : ""}"
        aria-pressed=${isChosen}
        title=${it.file_path}
        @click=${() => this.controller.inspection.selectFrame(it)}
        ><span class="grow">${it.function_name}</span
        ><span class="quiet">${baseName(it.file_path)}:${it.line_number}</span></button
      ></li
    >`;
  }

  private pastFrame({ function: name, file_path, line }: PastFrame) {
    const path = file_path ?? "";
    return html`<li
      ><button
        class="plain item mono"
        title=${path}
        ?disabled=${!path}
        @click=${() => this.controller.open(path, line ?? 0)}
      >
        <span class="grow">${name}</span><span class="quiet">${path ? `${baseName(path)}:${line}` : ""}</span></button
      ></li
    >`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      :host {
        display: block;
        overflow-y: auto;
      }
      .threads {
        padding-bottom: 0.25rem;
        margin-bottom: 0.25rem;
        border-bottom: 1px dashed var(--line);
      }
      .dot {
        flex: none;
        width: 0.5rem;
        height: 0.5rem;
        border-radius: 50%;
        background: var(--good);
      }
      .dot.stopped {
        width: 0.5rem;
        border: 0 solid var(--warn);
        border-width: 0 2.5px;
        border-radius: 0;
        background: none;
      }
      .hang {
        margin: 0.2rem 0.8rem 0.5rem;
        font-size: 0.85rem;
      }
    `,
  ];
}
