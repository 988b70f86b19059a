/** The call stack of the present stop, or of the past one that is shown. */
import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import type { PastFrame } from "../../replay/pastStops";
import type { Frame } from "../toolResults";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-stack-pane")
export class StackPane extends DebuggerPane {
  override render() {
    const { stop, frame } = this.controller.inspection;
    const { pastStop: then } = this.controller.history;
    const frames = then
      ? then.frames.map((it) => this.pastFrame(it))
      : stop?.call_stack.map((it) => this.renderFrame(it, it.frame_id === frame?.frame_id));
    if (!frames) return html`<p class="none">${t("The program is not stopped.")}</p>`;
    const left = stop && !then ? stop.total_frames - stop.call_stack.length : 0;
    const more = left > 0 ? html`<p class="none">${t("and {count} more", { count: left })}</p>` : nothing;
    return html`<ul id="stack"
        >${frames}</ul
      >${more}`;
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

  static override styles = [sharedStyles, paneStyles];
}
