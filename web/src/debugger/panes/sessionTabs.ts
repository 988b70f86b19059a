/** The sessions of every folder side by side, and whether the view follows an agent to its own. */
import { css, html, nothing, type PropertyValues } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { timeOfDay } from "../../parts/time";
import type { Session } from "../toolResults";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-session-tabs")
export class SessionTabs extends DebuggerPane {
  private visible = "";

  /** The tab of another session than before is brought into sight, and no other. */
  protected override updated(_: PropertyValues): void {
    const { selected } = this.controller.sessions;
    const chosen = this.renderRoot.querySelector(".chosen");
    if (selected === this.visible || !chosen) return;
    this.visible = selected;
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  override render() {
    const { sessions, follow } = this.controller;
    const { shown } = sessions;
    return html`${
        shown.length
          ? html`<ul id="sessions" aria-label=${t("Sessions")}
              >${shown.map((it) => this.renderSession(it))}</ul
            >`
          : nothing
      }<slot></slot
      ><label
        class="follow"
        title=${t("On: this view moves to the session and the stop of an agent that acts. Off: it stays where you are.")}
        ><input
          id="follow"
          type="checkbox"
          role="switch"
          .checked=${follow.isOn}
          @change=${(event: Event) => follow.turn((event.target as HTMLInputElement).checked)}
        />${t("Follow the agent")}</label
      >`;
  }

  private renderSession(it: Session) {
    const { sessions, history } = this.controller;
    const isChosen = it.session_id === sessions.selected;
    const begun = history.startOf(it.session_id);
    const name = it.name || it.session_id;
    return html`<li class=${isChosen ? "front" : ""}
      ><button
        class="plain item ${isChosen ? "chosen" : ""}"
        aria-pressed=${isChosen}
        title="${name}: ${t(it.state)}"
        @click=${() => sessions.select(it.session_id)}
        ><span class="state ${it.state}"><span class="unseen">${t(it.state)}</span></span
        ><span class="name"
          >${name}${sessions.folders.length > 1 ? html` <span class="quiet">${baseName(it.workspace)}</span>` : nothing}</span
        >
        <span class="begun"><time>${timeOfDay(begun?.at ?? it.since)}</time> ${begun?.actor}</span></button
      >${
        it.state === "Terminated"
          ? html`<button
              class="plain close"
              aria-label=${t("Close {name}", { name })}
              @click=${() => sessions.close(it.session_id)}
              >×</button
            >`
          : nothing
      }</li
    >`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      :host {
        flex-direction: row;
        align-items: stretch;
        background: var(--paper);
        border-bottom: 1px solid var(--line);
      }
      ul {
        display: flex;
        flex: 0 1 auto;
        overflow-x: auto;
        scrollbar-width: thin;
        min-width: 0;
      }
      li {
        display: flex;
        flex: none;
        align-items: center;
        max-width: 20rem;
        border-right: 1px solid var(--line);
      }
      .front {
        background: var(--card);
        box-shadow: inset 0 2px var(--accent);
      }
      .item {
        width: auto;
        min-width: 0;
        min-height: 31px;
        gap: 0.45rem;
        padding: 0 0.7rem;
      }
      .item.chosen {
        background: none;
        box-shadow: none;
      }
      .name {
        overflow: hidden;
        text-overflow: ellipsis;
        font-weight: 500;
      }
      .begun {
        flex: none;
        max-width: 11rem;
        overflow: hidden;
        text-overflow: ellipsis;
        color: var(--quiet);
        font-size: 0.75rem;
      }
      .close {
        padding: 0 0.5rem 0 0;
        color: var(--quiet);
      }
      /* A shape besides the colour: full while it runs, two bars while it is stopped, a ring when it has ended. */
      .state {
        flex: none;
        position: relative;
        width: 0.6rem;
        height: 0.6rem;
        border-radius: 50%;
        border: 2px solid var(--quiet);
      }
      .state.Running,
      .state.Starting {
        border-color: var(--good);
        background: var(--good);
      }
      .state.Stopped {
        border: 0 solid var(--warn);
        border-width: 0 3px;
        border-radius: 0;
      }
      .follow {
        display: flex;
        flex: none;
        align-items: center;
        gap: 0.4rem;
        padding: 0 0.8rem;
        font-size: 0.82rem;
        white-space: nowrap;
        cursor: pointer;
      }
      input[role="switch"] {
        appearance: none;
        position: relative;
        width: 1.8rem;
        height: 1rem;
        margin: 0;
        padding: 0;
        border: 1px solid var(--quiet);
        border-radius: 1rem;
        background: var(--raised);
        cursor: pointer;
      }
      input[role="switch"]::after {
        content: "";
        position: absolute;
        top: 2px;
        left: 2px;
        width: calc(1rem - 6px);
        height: calc(1rem - 6px);
        border-radius: 50%;
        background: var(--quiet);
      }
      input[role="switch"]:checked {
        border-color: var(--accent);
        background: var(--accent);
      }
      input[role="switch"]:checked::after {
        left: auto;
        right: 2px;
        background: var(--on-accent);
      }
      input[role="switch"]:focus-visible {
        outline-offset: 1px;
      }
      @media (max-width: 40rem) {
        :host {
          flex-wrap: wrap;
        }
        ul {
          flex: 1 1 0;
        }
        .begun {
          display: none;
        }
      }
    `,
  ];
}
