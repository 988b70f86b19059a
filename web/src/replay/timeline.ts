/**
 * The timeline of a session: a track that one drags through, and the same as a list. Both show the moment that is
 * looked at, and choosing another one is an event for the owner.
 */
import { LitElement, html, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "../parts/rows";
import { timeOfDay } from "../parts/time";
import "./chinese";
import { fold, rowsOf, type Fold, type TimelineRow } from "./folding";
import { icon } from "./icons";
import { Player, SPEEDS } from "./player";
import { TimeScale } from "./timeScale";
import { detailText, entryKey, entryText, type TimelineEntry } from "./timelineEntries";
import { timelineStyles } from "./timelineStyles";
import type { DragomanTrack, TrackChoice } from "./track/track";
import "./track/track";
import type { SeriesSource } from "./series/valueSeries";
import type { DragomanValueSeries } from "./series/seriesView";
import "./series/seriesView";

export interface MomentChoice {
  entry: TimelineEntry;
  /** Not while the hand still moves, or the replay plays. */
  isFinal: boolean;
}

const ROW_HEIGHT = 26;
const ZOOM = 1.6;

@customElement("dragoman-timeline")
export class DragomanTimeline extends LitElement {
  /** In the order in which they happened. */
  @property({ attribute: false }) entries: readonly TimelineEntry[] = [];
  /** The moment that is shown; null at the present. */
  @property({ attribute: false }) moment: TimelineEntry | null = null;
  /** The stop at which the program stands now, or that is shown though its moment is not known. */
  @property({ type: Number }) shownStop = 0;
  @property({ attribute: false }) series: SeriesSource | null = null;
  /** Whether something can be returned to. */
  @property({ type: Boolean }) isPast = false;
  @property({ type: Boolean }) canExport = false;
  @state() private showsValues = false;
  @state() private words = "";
  @query("dragoman-track") private track!: DragomanTrack;
  @query("#timeline-rows") private list!: HTMLElement | null;
  private readonly open = new Set<string>();
  private scale = new TimeScale([]);
  private folded: (TimelineEntry | Fold)[] = [];
  private rows: TimelineRow[] = [];
  /** The row of each entry, by the entry's key: its own, or that of the closed fold that it is in. */
  private readonly rowIndexes = new Map<number | string, number>();
  private found: Set<number> | null = null;
  private shown = -1;
  private readonly player = new Player((position) => this.playTo(position));

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.player.pause();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("entries")) {
      this.scale = new TimeScale(this.entries);
      this.folded = fold(this.entries);
    }
    if (changed.has("entries") || changed.has("words")) this.find();
    if (changed.has("entries") || changed.has("moment") || changed.has("shownStop")) this.shown = this.shownIndex();
  }

  private find(): void {
    const words = this.words.trim().toLowerCase();
    const found = words ? this.entries.flatMap((it, index) => (isMatch(it, words) ? [index] : [])) : null;
    this.found = found && new Set(found);
    this.rows = rowsOf(found ? found.map((index) => this.entries[index]!) : this.folded, this.open);
    this.rowIndexes.clear();
    this.rows.forEach((row, index) => {
      for (const it of row.fold?.entries ?? []) this.rowIndexes.set(entryKey(it), index);
      if (!row.fold) this.rowIndexes.set(entryKey(row.entry), index);
    });
  }

  private shownIndex(): number {
    const { entries, moment } = this;
    if (!moment) return this.shownStop ? entries.findLastIndex((it) => it.stop === this.shownStop) : -1;
    const index = entries.indexOf(moment);
    return index >= 0 ? index : entries.findIndex((it) => entryKey(it) === entryKey(moment));
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("moment") && this.moment) this.revealRow();
  }

  private revealRow(): void {
    const index = this.shownRow;
    if (!this.list || index < 0) return;
    const top = index * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.list;
    if (top < scrollTop || top > scrollTop + clientHeight - ROW_HEIGHT) this.list.scrollTop = top - clientHeight / 2;
  }

  private get shownRow(): number {
    const shown = this.entries[this.shown];
    return shown ? (this.rowIndexes.get(entryKey(shown)) ?? -1) : -1;
  }

  override render() {
    const { entries, scale, found } = this;
    return html`${this.tools()}
      <div class="parts">
        <dragoman-track
          ?hidden=${!entries.length}
          .entries=${entries}
          .scale=${scale}
          .shown=${this.shown}
          .found=${found}
          @choose=${({ detail }: CustomEvent<TrackChoice>) => this.chooseIndex(detail.index, detail.isFinal)}
          @keydown=${this.handleKey}
        ></dragoman-track>
        <div class="side">${this.showsValues && this.series ? this.values() : this.listed()}</div>
      </div>`;
  }

  private tools() {
    const isEmpty = !this.entries.length;
    const isPlaying = this.player.isPlaying;
    const tool = (name: Parameters<typeof icon>[0], label: string, act: () => void, disabled = isEmpty) =>
      html`<button
        class="plain"
        data-tool=${name}
        title=${label}
        aria-label=${label}
        ?disabled=${disabled}
        @click=${act}
        >${icon(name)}</button
      >`;
    return html`<div class="tools">
      <div class="group" role="group" aria-label=${t("Replay")}
        >${tool("previous", t("Previous stop in the timeline"), () => this.chooseIndex(this.track.nextStop(-1)))}
        ${tool(isPlaying ? "pause" : "play", isPlaying ? t("Pause the replay") : t("Play"), () => this.togglePlay())}
        ${tool("next", t("Next stop in the timeline"), () => this.chooseIndex(this.track.nextStop(1)))}
        <label
          ><span class="unseen">${t("Speed")}</span
          ><select @change=${this.setSpeed} ?disabled=${isEmpty}
            >${SPEEDS.map((it) => html`<option value=${it} .selected=${it === this.player.speed}>${it}×</option>`)}</select
          ></label
        ></div
      >
      <p class="about" role="status">${this.about()}</p>
      ${
        this.isPast
          ? html`<button class="now" @click=${this.returnToPresent}>${t("Back to the present")}</button>`
          : nothing
      }
      <input
        class="find"
        type="search"
        placeholder=${t("Find")}
        aria-label=${t("Find in the timeline")}
        .value=${this.words}
        @input=${(event: Event) => (this.words = (event.target as HTMLInputElement).value)}
      />
      <div class="group" role="group" aria-label=${t("Zoom")}
        >${tool("farther", t("Show more time"), () => this.track.zoom(ZOOM))}
        ${tool("closer", t("Show less time"), () => this.track.zoom(1 / ZOOM))}
        ${tool("whole", t("Show all of it"), () => this.track.zoom(Infinity))}</div
      >
      ${
        this.series
          ? html`<button
              class="plain"
              data-tool="values"
              aria-pressed=${this.showsValues}
              title=${t("Values over time")}
              @click=${() => (this.showsValues = !this.showsValues)}
              >${icon("chart")}<span class="word">${t("Values over time")}</span></button
            >`
          : nothing
      }
      ${
        this.canExport
          ? html`<button
              class="plain"
              data-tool="export"
              title=${t("Save this session as one file that replays itself")}
              ?disabled=${isEmpty}
              @click=${() => this.dispatchEvent(new Event("export"))}
              >${icon("save")}<span class="word">${t("Save as a file")}</span></button
            >`
          : nothing
      }
    </div>`;
  }

  /** The moment that is shown, in words. */
  private about() {
    const entry = this.moment;
    if (!entry || this.shown < 0) return t("{count} moments", { count: this.entries.length });
    const place = entry.path ? ` · ${baseName(entry.path)}:${entry.line}` : "";
    return html`<strong>${entryText(entry)}</strong>${detailText(entry)}${place} ·
      ${t("{number} of {count}", { number: this.shown + 1, count: this.entries.length })}`;
  }

  private values() {
    return html`<dragoman-value-series
      .source=${this.series}
      .stop=${this.moment?.stop || this.shownStop}
      @stop-chosen=${(event: CustomEvent<number>) => this.chooseStop(event.detail)}
    ></dragoman-value-series>`;
  }

  /** The variable whose values are shown: chosen elsewhere in the view. */
  showValuesOf(name: string): void {
    this.showsValues = true;
    void this.updateComplete.then(() => {
      const view = this.renderRoot.querySelector<DragomanValueSeries>("dragoman-value-series");
      if (view) view.name = name;
    });
  }

  private listed() {
    if (!this.entries.length)
      return html`<p class="empty"
        >${t("What agents, people and the program do in this session appears here. Drag through it to see the program as it was at any moment.")}</p
      >`;
    if (!this.rows.length) return html`<p class="empty">${t("Nothing was found.")}</p>`;
    return html`<dragoman-rows
      id="timeline-rows"
      aria-label=${t("Timeline")}
      .rows=${this.rows}
      .height=${ROW_HEIGHT}
      .keyOf=${({ key }: TimelineRow) => key}
      .renderRow=${(row: TimelineRow, index: number) => this.row(row, index === this.shownRow)}
    ></dragoman-rows>`;
  }

  private row({ entry, fold: folded, isInside }: TimelineRow, isShown: boolean) {
    const kind = `${!folded && entry.stop ? "stop" : ""} ${entry.isBad ? "wrong" : ""} ${folded ? "fold" : ""}`;
    const what = folded ? folded.text : entryText(entry);
    const isOpen = folded !== null && this.open.has(folded.key);
    const where = entry.path ? `${baseName(entry.path)}:${entry.line}` : "";
    return html`<button
      class="plain item ${kind} ${isInside ? "inside" : ""} ${isShown ? "chosen" : ""}"
      aria-current=${isShown ? "true" : nothing}
      aria-expanded=${folded ? isOpen : nothing}
      @click=${() => (folded ? this.toggle(folded) : this.choose(entry, true))}
    >
      <time>${timeOfDay(entry.at)}</time
      >${folded ? html`<span class="fold-mark" aria-hidden="true">${isOpen ? "▾" : "▸"}</span>` : nothing}<span
        class="what"
        title=${what}
        >${what}</span
      ><span class="detail">${folded ? "" : detailText(entry)}</span><span class="where">${where}</span></button
    >`;
  }

  private toggle({ key }: Fold): void {
    if (!this.open.delete(key)) this.open.add(key);
    this.find();
    this.requestUpdate();
  }

  private readonly setSpeed = (event: Event): void => {
    this.player.speed = Number((event.target as HTMLSelectElement).value);
  };

  private readonly returnToPresent = (): void => {
    this.player.pause();
    this.dispatchEvent(new Event("present"));
  };

  private choose(entry: TimelineEntry, isFinal: boolean): void {
    if (isFinal && this.player.isPlaying) this.player.pause();
    this.dispatchEvent(new CustomEvent<MomentChoice>("moment", { detail: { entry, isFinal } }));
  }

  private chooseStop(number: number): void {
    const entry = this.entries.findLast((it) => it.stop === number && it.session);
    if (entry) this.choose(entry, true);
  }

  private chooseIndex(index: number, isFinal = true): void {
    const entry = this.entries[Math.min(Math.max(0, index), this.entries.length - 1)];
    if (entry) this.choose(entry, isFinal);
  }

  private togglePlay(): void {
    if (this.player.isPlaying) {
      this.player.pause();
      if (this.shown >= 0) this.chooseIndex(this.shown);
    } else {
      const isAtEnd = this.shown < 0 || this.shown >= this.entries.length - 1;
      this.player.play(isAtEnd ? 0 : this.scale.positions[this.shown]!);
      if (isAtEnd) this.chooseIndex(0, false);
    }
    this.requestUpdate();
  }

  private playTo(position: number): boolean {
    const index = this.scale.indexAt(position);
    const isEnd = position >= this.scale.length;
    if (index !== this.shown || isEnd) this.chooseIndex(index, isEnd);
    if (isEnd) this.requestUpdate();
    return !isEnd;
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.key === " ") this.togglePlay();
    else if (event.key === "Escape" && this.isPast) this.returnToPresent();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  static override styles = [sharedStyles, timelineStyles];
}

function isMatch(entry: TimelineEntry, words: string): boolean {
  return `${entryText(entry)} ${entry.detail} ${entry.path}:${entry.line}`.toLowerCase().includes(words);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
