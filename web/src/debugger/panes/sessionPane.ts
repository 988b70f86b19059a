/** The sessions of every folder, and the threads of the selected one. */
import { css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { timeOfDay } from "../../parts/time";
import type { Session, Thread } from "../toolResults";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-session-pane")
export class SessionPane extends DebuggerPane {
  override render() {
    const { all } = this.controller.sessions;
    if (!all.length) return html`<p class="none">${t("None.")}</p>`;
    return html`<ul id="sessions"
      >${all.map((it) => this.renderSession(it))}</ul
    >`;
  }

  private renderSession(it: Session) {
    const { sessions, history } = this.controller;
    const isChosen = it.session_id === sessions.selected;
    const begun = history.startOf(it.session_id);
    return html`<li
      ><button
        class="plain item ${isChosen ? "chosen" : ""}"
        aria-pressed=${isChosen}
        @click=${() => sessions.select(it.session_id)}
      >
        <span class="grow"
          >${it.name || it.session_id}${sessions.folders.length > 1 ? html` <span class="quiet">${baseName(it.workspace)}</span>` : nothing}
          <span class="begun"><time>${timeOfDay(begun?.at ?? it.since)}</time> ${begun?.actor}</span></span
        ><span class="state ${it.state}">${t(it.state)}</span></button
      >
      ${
        isChosen && (it.threads?.length ?? 0) > 1
          ? html`<ul class="threads"
              >${it.threads!.map((thread) => this.thread(thread))}</ul
            >`
          : nothing
      }</li
    >`;
  }

  private thread(it: Thread) {
    const { file_path = "", line_number = 0 } = it;
    return html`<li
      ><button class="plain item" ?disabled=${!file_path} @click=${() => this.controller.open(file_path, line_number)}>
        <span class="grow">${it.name}</span
        ><span class="quiet">${file_path ? `${baseName(file_path)}:${line_number}` : t(it.state)}</span></button
      ></li
    >`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      .threads {
        padding-left: 1rem;
      }
      .begun {
        display: block;
        overflow: hidden;
        text-overflow: ellipsis;
        color: var(--quiet);
        font-size: 0.75rem;
      }
      .state {
        font-size: 0.78rem;
        color: var(--quiet);
      }
      .state.Stopped {
        color: var(--warn);
      }
      .state.Running,
      .state.Starting {
        color: var(--good);
      }
    `,
  ];
}
