/** The actions of people and agents in the selected session, and its stops: each stop can be looked back at. */
import { css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import "../../parts/rows";
import { timeOfDay } from "../../parts/time";
import { entryKey, type TimelineEntry } from "../../replay/timelineEntries";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-timeline-pane")
export class TimelinePane extends DebuggerPane {
  override render() {
    const { history, sessions } = this.controller;
    const shown = history.entries.filter(({ session }) => !session || session === sessions.selected);
    return html`<dragoman-rows
      id="timeline"
      aria-label=${t("Timeline")}
      .rows=${shown}
      .height=${26}
      .keyOf=${entryKey}
      .renderRow=${(it: TimelineEntry) => this.renderEntry(it)}
    ></dragoman-rows>`;
  }

  private renderEntry(it: TimelineEntry) {
    const where = it.path ? `${baseName(it.path)}:${it.line}` : "";
    const what = it.actor ? t("{who} {what}", { who: it.actor, what: it.text }) : it.text;
    const { history, inspection } = this.controller;
    const isShown = it.stop > 0 && it.stop === (history.pastStop?.number ?? inspection.stop?.stop_number);
    return html`<button
      class="plain item ${it.stop ? "stop" : ""} ${isShown ? "chosen" : ""}"
      aria-current=${isShown ? "true" : nothing}
      ?disabled=${!it.path && !it.stop}
      @click=${() => (it.stop ? this.controller.showPastStop(it.stop) : this.controller.open(it.path, it.line))}
    >
      <time>${timeOfDay(it.at)}</time><span class="grow" title=${what}>${what}</span
      ><span class="quiet mono">${where}</span></button
    >`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      dragoman-rows {
        flex: 1;
        min-height: 0;
        background: var(--card);
      }
      time {
        color: var(--quiet);
        font: 0.78rem var(--mono);
        flex: none;
      }
      .stop .grow {
        color: var(--warn);
      }
    `,
  ];
}
