/** The page of a saved session: the timeline, and what the program was at the moment that is chosen. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { visibleText, type OutputLine } from "../../debugger/output/outputLines";
import { t } from "../../link";
import "../../parts/rows";
import { dateAndTime } from "../../parts/time";
import "../../source/source";
import { SourceFile } from "../../source/sourceFile";
import type { PastFrame } from "../pastStops";
import { pastStopText } from "../pastStops";
import "../pastVariables";
import { SessionHistory } from "../sessionHistory";
import type { SeriesSource } from "../series/valueSeries";
import type { DragomanTimeline, MomentChoice } from "../timeline";
import "../timeline";
import type { TimelineEntry } from "../timelineEntries";
import { recording } from "./offlineLink";

@customElement("dragoman-replay-file")
export class DragomanReplayFile extends LitElement {
  @state() private text: SourceFile | null = null;
  @state() private revealed = { line: 0, times: 0 };
  @state() private place: { path: string; line: number } | null = null;
  @query("dragoman-timeline") private timeline!: DragomanTimeline;
  private readonly history = new SessionHistory();
  private series: SeriesSource | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("hashchange", this.followAddress);
    this.history.add(recording.events);
    void this.history
      .load(recording.workspace, recording.session, () => undefined)
      .then(() => {
        const entries = this.entries;
        this.series = { stops: this.history.stops, entries, workspace: recording.workspace };
        if (!this.followAddress()) this.showFirst(entries);
      });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("hashchange", this.followAddress);
  }

  private get entries(): readonly TimelineEntry[] {
    return this.history.of(recording.session);
  }

  /** Where it went wrong, if it did; else where it ended. */
  private showFirst(entries: readonly TimelineEntry[]): void {
    const first = entries.findLast((it) => it.stop && it.isBad) ?? entries.findLast((it) => it.stop) ?? entries.at(-1);
    if (first) this.show(first, false);
    else this.requestUpdate();
  }

  /** At the stop that the address names. */
  private readonly followAddress = (): boolean => {
    const number = Number(location.hash.slice(1));
    const entry = number ? this.entries.find((it) => it.stop === number) : undefined;
    if (entry) this.show(entry, false);
    return entry !== undefined;
  };

  private show(entry: TimelineEntry, isFinal: boolean): void {
    const then = this.history.showMoment(recording.session, entry);
    if (isFinal && then.number) history.pushState(null, "", `#${then.number}`);
    if (then.path) this.open(then.path, then.line);
    this.requestUpdate();
  }

  private open(path: string, line: number): void {
    this.place = { path, line };
    this.revealed = { line, times: this.revealed.times + 1 };
    if (this.text?.is(path, recording.workspace)) return;
    this.text = new SourceFile(path, recording.workspace);
    this.text.want(Math.max(0, line - 1));
  }

  override render() {
    const { pastStop: then, moment, outputThen } = this.history;
    return html`<header>
        <h1>${recording.title || recording.session}</h1>
        <p
          >${t("A recorded debug session")}${this.entries[0] ? html` · <time>${dateAndTime(this.entries[0].at)}</time>` : nothing}${this.leftOut()}</p
        >
      </header>
      <p class="then" role="status">${then ? pastStopText(then) : nothing}</p>
      <main>
        <section class="source" aria-label=${t("Source")}
          ><p class="path mono">${this.place ? `${this.place.path}:${this.place.line}` : ""}</p
          ><dragoman-source
            .text=${this.text}
            .current=${this.place?.line ?? 0}
            .revealed=${this.revealed}
          ></dragoman-source
        ></section>
        <section class="state">
          <h2>${t("Variables")}</h2>
          <dragoman-past-variables
            id="variables-then"
            .stop=${then}
            .present=${this.history.presentValues(recording.session)}
            @over-time=${({ detail }: CustomEvent<string>) => this.timeline.showValuesOf(detail)}
          ></dragoman-past-variables>
          <h2>${t("Call stack")}</h2>
          <ul id="stack"
            >${then?.frames.map((it) => this.frame(it))}</ul
          >
          <h2>${t("Output")}</h2>
          <dragoman-rows
            id="output"
            anchor="end"
            tabindex="0"
            aria-label=${t("Output")}
            .rows=${outputThen ?? []}
            .height=${19}
            .renderRow=${(line: OutputLine) => html`<div class="printed">${visibleText(line)}</div>`}
          ></dragoman-rows>
        </section>
      </main>
      <dragoman-timeline
        id="timeline"
        .entries=${this.entries}
        .moment=${moment}
        .series=${this.series}
        @moment=${({ detail }: CustomEvent<MomentChoice>) => this.show(detail.entry, detail.isFinal)}
      ></dragoman-timeline>`;
  }

  private frame({ function: name, file_path: path, line }: PastFrame) {
    return html`<li
      ><button class="plain item mono" ?disabled=${!path} @click=${() => this.open(path ?? "", line ?? 0)}
        ><span>${name}</span
        ><span class="quiet">${path ? `${path.slice(path.lastIndexOf("/") + 1)}:${line}` : ""}</span></button
      ></li
    >`;
  }

  private leftOut() {
    const { stops = 0, files = 0 } = recording.cut;
    return html`${stops ? html` · ${t("{count} stops are not in this file.", { count: stops })}` : nothing}${
      files ? html` · ${t("{count} source files are not in this file.", { count: files })}` : nothing
    }`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        height: 100dvh;
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 1rem;
        padding: 0.4rem 0.8rem;
        background: var(--card);
        border-bottom: 1px solid var(--line);
      }
      h1 {
        margin: 0;
        font-size: 1.05rem;
      }
      header p {
        margin: 0;
        color: var(--quiet);
        font-size: 0.85rem;
      }
      h2 {
        flex: none;
        margin: 0;
        padding: 0.3rem 0.8rem;
        font-size: 0.78rem;
        color: var(--quiet);
        border-top: 1px solid var(--line);
      }
      .then {
        margin: 0;
        min-height: 1.9rem;
        padding: 0.2rem 0.8rem;
        background: var(--marked);
        font-size: 0.9rem;
        overflow-wrap: anywhere;
      }
      main {
        flex: 1;
        min-height: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(15rem, 26rem);
      }
      section {
        display: flex;
        flex-direction: column;
        min-height: 0;
        min-width: 0;
      }
      .state {
        border-left: 1px solid var(--line);
      }
      .path {
        margin: 0;
        padding: 0.2rem 0.8rem;
        color: var(--quiet);
        border-bottom: 1px solid var(--line);
      }
      dragoman-source {
        padding-left: 0.5rem;
        flex: 1;
        min-height: 0;
      }
      dragoman-past-variables {
        flex: 3;
      }
      ul {
        flex: 1;
        min-height: 2.2rem;
        margin: 0;
        padding: 0;
        overflow-y: auto;
        list-style: none;
        background: var(--card);
      }
      .item {
        display: flex;
        justify-content: space-between;
        gap: 0.6rem;
        width: 100%;
        padding: 0.1rem 0.8rem;
        border: 0;
        font-size: 0.82rem;
      }
      #output {
        flex: 2;
        min-height: 3rem;
        background: var(--card);
      }
      .printed {
        height: 19px;
        padding: 0 0.8rem;
        font: 0.82rem/19px var(--mono);
        white-space: pre;
      }
      dragoman-timeline {
        flex: none;
        height: clamp(11rem, 32vh, 20rem);
        border-top: 1px solid var(--line);
      }
      @media (max-width: 48rem) {
        main {
          grid-template-columns: minmax(0, 1fr);
          grid-template-rows: minmax(0, 3fr) minmax(0, 4fr);
        }
        .state {
          border-left: 0;
          border-top: 1px solid var(--line);
        }
        dragoman-timeline {
          height: 38vh;
        }
      }
    `,
  ];
}
