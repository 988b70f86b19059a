/** The track of a timeline: a lane for the program and each actor, and a handle that is dragged through time. */
import { LitElement, html, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { timeOfDay } from "../../parts/time";
import { AXIS_HEIGHT, drawTrack, LANE_HEIGHT, positionOf, xOf, type Palette } from "./drawing";
import { lanesOf, type Lane } from "./lanes";
import { including, moved, TimeScale, zoomed, type Viewport } from "../timeScale";
import { detailText, entryText, type TimelineEntry } from "../timelineEntries";
import { trackStyles } from "./styles";

/** A moment by its index; not final while the hand still moves. */
export interface TrackChoice {
  index: number;
  isFinal: boolean;
}

const ZOOM = 1.6;
const WHEEL_ZOOM = 1.2;
/** A mark is hit from this far. */
const REACH_PX = 8;
const PALETTE = ["ink", "quiet", "line", "raised", "card", "accent", "bad", "good", "warn"] as const;
const ACTORS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

@customElement("dragoman-track")
export class DragomanTrack extends LitElement {
  @property({ attribute: false }) entries: readonly TimelineEntry[] = [];
  @property({ attribute: false }) scale = new TimeScale([]);
  /** The index of the moment that is shown; -1 at the present. */
  @property({ type: Number }) shown = -1;
  /** What a search found; null without one. */
  @property({ attribute: false }) found: ReadonlySet<number> | null = null;
  @state() private view: Viewport = { from: 0, to: 1 };
  @state() private hovered = -1;
  @query(".plane") private plane!: HTMLElement;
  @query("canvas") private canvas!: HTMLCanvasElement;
  private lanes: Lane[] = [];
  private laneOf: Uint8Array = new Uint8Array();
  private isDragged = false;
  private frame = 0;
  /** Everything is in sight until a person zooms. */
  private isWhole = true;
  private palette: Palette | null = null;
  private readonly resizeObserver = new ResizeObserver(() => this.draw());
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");

  override connectedCallback(): void {
    super.connectedCallback();
    this.scheme.addEventListener("change", this.restyle);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.scheme.removeEventListener("change", this.restyle);
    this.resizeObserver.disconnect();
  }

  private readonly restyle = (): void => {
    this.palette = null;
    this.draw();
  };

  protected override firstUpdated(): void {
    this.resizeObserver.observe(this.plane);
  }

  protected override willUpdate(changed: PropertyValues): void {
    const { scale } = this;
    if (changed.has("entries")) {
      ({ lanes: this.lanes, laneOf: this.laneOf } = lanesOf(this.entries));
      this.view = this.isWhole ? { from: 0, to: Math.max(1, scale.length) } : moved(this.view, 0, scale.length);
      this.hovered = -1;
    }
    if (changed.has("shown") && this.shown >= 0 && !this.isDragged)
      this.view = including(this.view, scale.positions[this.shown] ?? 0, scale.length);
  }

  protected override updated(): void {
    this.draw();
  }

  private draw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  private drawNow(): void {
    const { canvas } = this;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || !canvas.clientWidth) return;
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.palette ??= this.readPalette();
    const { entries, scale, lanes, laneOf, view, shown, hovered, found } = this;
    drawTrack(context, { entries, scale, lanes, laneOf, view, shown, hovered, found }, this.palette);
  }

  /** As the styles have them: a canvas knows no variables. */
  private readPalette(): Palette {
    const probe = this.renderRoot.querySelector<HTMLElement>(".probe")!;
    const read = (name: string) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    const plain = Object.fromEntries(PALETTE.map((name) => [name, read(name)])) as Record<
      (typeof PALETTE)[number],
      string
    >;
    return {
      ...plain,
      mono: getComputedStyle(probe).fontFamily,
      actors: ACTORS.map((index) => read(`actor-${index}`)),
    };
  }

  override render() {
    const { lanes, scale, view } = this;
    const height = `height:${AXIS_HEIGHT + Math.max(1, lanes.length) * LANE_HEIGHT}px`;
    const whole = Math.max(scale.length, 1);
    const windowStyle = `left:${(100 * view.from) / whole}%;width:${(100 * (view.to - view.from)) / whole}%`;
    return html`<i class="probe unseen mono" aria-hidden="true"></i>
      <div class="lanes" .style=${height} aria-hidden="true"
        >${lanes.map((lane) => html`<div class="lane" title=${lane.name} .style=${`color:var(--actor-${lane.colour})`}><i class="swatch"></i><span>${lane.name}</span></div>`)}</div
      >
      <div
        class="plane"
        role="slider"
        tabindex="0"
        .style=${height}
        aria-label=${t("Moments")}
        aria-valuemin="1"
        aria-valuemax=${Math.max(1, this.entries.length)}
        aria-valuenow=${this.shown + 1 || Math.max(1, this.entries.length)}
        aria-valuetext=${this.valueText()}
        aria-keyshortcuts="ArrowLeft ArrowRight Shift+ArrowLeft Shift+ArrowRight Home End + -"
        @pointerdown=${this.startDrag}
        @pointermove=${this.drag}
        @pointerup=${this.endDrag}
        @pointercancel=${this.endDrag}
        @pointerleave=${() => (this.hovered = -1)}
        @wheel=${this.wheel}
        @keydown=${this.handleKey}
        ><canvas></canvas
        >${this.hint()}${this.isWhole ? nothing : html`<i class="window" .style=${windowStyle}></i>`}</div
      >`;
  }

  private valueText(): string {
    const entry = this.entries[this.shown];
    return entry ? `${timeOfDay(entry.at)} ${entryText(entry)}${detailText(entry)}` : t("the present");
  }

  private hint() {
    const entry = this.entries[this.hovered];
    if (!entry) return nothing;
    const x = xOf(this.scale.positions[this.hovered]!, this.view, this.plane.clientWidth);
    const isRight = x > this.plane.clientWidth / 2;
    const style = isRight ? `right:${this.plane.clientWidth - x + 10}px` : `left:${x + 10}px`;
    return html`<div class="hint" .style=${style}>${timeOfDay(entry.at)} ${entryText(entry)}${detailText(entry)}</div>`;
  }

  /** About a place in time; else about the shown moment, or what is in the middle. */
  zoom(factor: number, about = this.scale.positions[this.shown] ?? (this.view.from + this.view.to) / 2): void {
    this.view = zoomed(this.view, factor, about, this.scale.length);
    this.isWhole = this.view.to - this.view.from >= this.scale.length;
  }

  private choose(index: number, isFinal: boolean): void {
    const within = Math.min(Math.max(0, index), this.entries.length - 1);
    this.dispatchEvent(new CustomEvent<TrackChoice>("choose", { detail: { index: within, isFinal } }));
  }

  private indexAtPointer(event: PointerEvent): number {
    const box = this.plane.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const lane = Math.floor((y - AXIS_HEIGHT) / LANE_HEIGHT);
    const nearest = this.scale.nearest(positionOf(x, this.view, box.width));
    if (this.isDragged || this.laneOf[nearest] === lane) return nearest;
    let best = -1;
    let distance = REACH_PX;
    const from = this.scale.indexFrom(positionOf(x - REACH_PX, this.view, box.width));
    const upto = positionOf(x + REACH_PX, this.view, box.width);
    for (let index = from; index < this.entries.length && this.scale.positions[index]! <= upto; index++) {
      const away = Math.abs(xOf(this.scale.positions[index]!, this.view, box.width) - x);
      if (this.laneOf[index] === lane && away < distance) [best, distance] = [index, away];
    }
    return best >= 0 ? best : nearest;
  }

  private startDrag(event: PointerEvent): void {
    if (event.button || !this.entries.length) return;
    this.plane.setPointerCapture(event.pointerId);
    this.choose(this.indexAtPointer(event), false);
    this.isDragged = true;
  }

  private drag(event: PointerEvent): void {
    if (!this.entries.length) return;
    const index = this.indexAtPointer(event);
    this.hovered = this.isDragged ? -1 : index;
    if (this.isDragged && index !== this.shown) this.choose(index, false);
  }

  private endDrag(): void {
    if (!this.isDragged) return;
    this.isDragged = false;
    if (this.shown >= 0) this.choose(this.shown, true);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { width, left } = this.plane.getBoundingClientRect();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? event.deltaX : event.deltaY)) {
      this.view = moved(this.view, (sideways / width) * (this.view.to - this.view.from), this.scale.length);
      return;
    }
    this.zoom(event.deltaY > 0 ? WHEEL_ZOOM : 1 / WHEEL_ZOOM, positionOf(event.clientX - left, this.view, width));
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.entries.length - 1;
    const at = this.shown < 0 ? last + 1 : this.shown;
    const acts: Record<string, () => void> = {
      "ArrowLeft": () => this.choose(event.shiftKey ? this.nextStop(-1) : at - 1, true),
      "ArrowRight": () => this.choose(event.shiftKey ? this.nextStop(1) : at + 1, true),
      "PageUp": () => this.choose(this.nextStop(-1), true),
      "PageDown": () => this.choose(this.nextStop(1), true),
      "Home": () => this.choose(0, true),
      "End": () => this.choose(last, true),
      "+": () => this.zoom(1 / ZOOM),
      "=": () => this.zoom(1 / ZOOM),
      "-": () => this.zoom(ZOOM),
      "0": () => this.zoom(Infinity),
    };
    const act = acts[event.key];
    if (!act || last < 0) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** The stop before or after the shown moment; where there is none, the moment itself. */
  nextStop(step: 1 | -1): number {
    const from = this.shown < 0 ? this.entries.length : this.shown;
    for (let index = from + step; index >= 0 && index < this.entries.length; index += step)
      if (this.entries[index]!.stop) return index;
    return Math.min(from, this.entries.length - 1);
  }

  static override styles = [sharedStyles, trackStyles];
}
