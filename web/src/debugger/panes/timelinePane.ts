/** The timeline of the selected session: what happened in it, and each moment of it to look back at. */
import { css, html } from "lit";
import { customElement, query } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { saveReplay } from "../../replay/saveReplay";
import type { DragomanTimeline, MomentChoice } from "../../replay/timeline";
import "../../replay/timeline";
import type { SeriesSource } from "../../replay/series/valueSeries";
import { DebuggerPane } from "./pane";

@customElement("dragoman-timeline-pane")
export class TimelinePane extends DebuggerPane {
  @query("dragoman-timeline") private timeline!: DragomanTimeline;
  private series: SeriesSource | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.controller.showValuesOf = (name) => this.timeline.showValuesOf(name);
  }

  override render() {
    const { history, sessions, inspection } = this.controller;
    const entries = history.of(sessions.selected);
    if (this.series?.stops !== history.stops || this.series.entries !== entries)
      this.series = { stops: history.stops, entries, workspace: sessions.workspace };
    return html`<dragoman-timeline
      id="timeline"
      .entries=${entries}
      .moment=${history.moment}
      .shownStop=${history.pastStop?.number ?? inspection.stop?.stop_number ?? 0}
      .series=${this.series}
      .isPast=${history.pastStop !== null}
      canExport
      @moment=${this.show}
      @present=${() => this.controller.showPresent()}
      @export=${() => void this.controller.attempt(saveReplay(sessions.selected, sessions.current?.name ?? ""))}
    ></dragoman-timeline>`;
  }

  /** Where nothing of the session is known, a place is opened as it is now. */
  private readonly show = ({ detail: { entry, isFinal } }: CustomEvent<MomentChoice>): void => {
    if (entry.stop && isFinal) void this.controller.showPastStop(entry.stop);
    else if (!entry.session && entry.path && isFinal) this.controller.open(entry.path, entry.line);
    else this.controller.showMoment(entry, isFinal);
  };

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      dragoman-timeline {
        flex: 1;
      }
    `,
  ];
}
