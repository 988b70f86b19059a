/** The live screen of one terminal: what it shows as it shows it, in its own size. Nothing can be typed into it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import { TerminalStream, type StreamState } from "../link/terminalStream";
import type { DragomanRows } from "../parts/rows";
import "../parts/rows";
import "./chinese";
import { Emulator, type Run } from "./emulator";
import { palette } from "./palette";

const WORDS: Record<StreamState, string> = {
  connecting: "connecting…",
  live: "live",
  lost: "Connection lost. Retrying…",
  ended: "This terminal has ended.",
};
const SMALLEST_PX = 10;
const LARGEST_PX = 14;
const LETTERS = 40;
const MARGIN_PX = 16;

@customElement("dragoman-screen")
export class DragomanScreen extends LitElement {
  @property() terminal = "";
  @state() private streamState: StreamState = "connecting";
  @state() private missed = 0;
  @state() private size = LARGEST_PX;
  @query(".measure") private measure!: HTMLElement;
  private emulator = new Emulator(() => this.scheduleRedraw());
  private stream: TerminalStream | null = null;
  private frame = 0;
  /** How far the cursor was followed to the side. */
  private sideways = 0;
  private readonly observer = new ResizeObserver(() => this.fit());

  override connectedCallback(): void {
    super.connectedCallback();
    this.observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
    this.stream?.stop();
    this.stream = null;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("terminal") || !this.stream) this.openStream();
  }

  private openStream(): void {
    this.stream?.stop();
    this.emulator.end();
    const emulator = new Emulator(() => this.scheduleRedraw());
    this.emulator = emulator;
    this.missed = 0;
    this.stream = new TerminalStream(this.terminal, {
      begin: (columns, rows, missed) => {
        this.missed = missed;
        emulator.begin(columns, rows);
        this.scheduleRedraw();
      },
      data: (bytes, drawn) => emulator.write(bytes, drawn),
      state: (state) => (this.streamState = state),
    });
  }

  /** However much comes, it is drawn once a frame. */
  private scheduleRedraw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.fit();
      this.requestUpdate();
    });
  }

  /** As large as the available width allows for its columns, while still legible. */
  private fit(): void {
    if (!this.hasUpdated) return;
    const letter = this.measure.getBoundingClientRect().width / LETTERS / this.size;
    const fitting = (this.clientWidth - 28) / (this.emulator.columns * letter);
    const size = Math.max(SMALLEST_PX, Math.min(LARGEST_PX, Math.floor(fitting * 2) / 2));
    if (letter && Number.isFinite(size)) this.size = size;
  }

  override updated(): void {
    const rows = this.renderRoot.querySelector<DragomanRows>("#screen");
    void rows?.updateComplete.then(() => this.reveal(rows));
  }

  /** In a narrow window the cursor may be outside the visible part. A person who has scrolled sideways is not moved. */
  private reveal(rows: HTMLElement): void {
    const cursor = rows.querySelector(".cursor")?.getBoundingClientRect();
    if (!cursor || rows.scrollLeft !== this.sideways) return;
    const { left, right } = rows.getBoundingClientRect();
    const over = Math.max(0, cursor.right - right + MARGIN_PX) || Math.min(0, cursor.left - left - MARGIN_PX);
    if (over) rows.scrollLeft += over;
    this.sideways = rows.scrollLeft;
  }

  override render() {
    const { columns, rows, length } = this.emulator;
    const isLive = this.streamState === "live";
    const tall = Math.round(this.size * 1.35);
    return html`
      <p class="quiet status" role="status">
        <span class="state ${this.streamState}">${t(WORDS[this.streamState])}</span> · ${columns}×${rows} ·
        ${t("read only")}
        ${this.missed ? html`· <span class="bad">${t("{count} bytes arrived too fast and were skipped.", { count: this.missed })}</span>` : nothing}
      </p>
      <div class="glass" .style=${`font-size:${this.size}px;--columns:${columns};--tall:${tall}px`}
        ><dragoman-rows
          id="screen"
          tabindex="0"
          aria-label=${t("Screen")}
          anchor="end"
          data-about=${t("the screen of a terminal")}
          .height=${tall}
          .rows=${Array.from({ length }, (_, index) => index)}
          .renderRow=${(index: number) => html`<div class="line">${this.emulator.line(index, isLive).map(renderRun)}</div>`}
        ></dragoman-rows
      ></div>
      <span class="measure" aria-hidden="true" .style=${`font-size:${this.size}px`}>${"M".repeat(LETTERS)}</span>
    `;
  }

  static override styles = [
    sharedStyles,
    palette,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
        min-width: 0;
        position: relative;
      }
      .status {
        margin: 0;
        padding: 0.25rem 0.8rem;
        font-size: 0.8rem;
        border-bottom: 1px solid var(--line);
      }
      .state.live {
        color: var(--good);
      }
      .state.lost {
        color: var(--bad);
      }
      .glass {
        flex: 1;
        min-height: 0;
        display: flex;
        font-family: var(--mono);
        line-height: var(--tall);
        background: var(--ground);
        color: var(--glyph);
      }
      #screen {
        flex: 1;
        min-width: 0;
        overflow-x: auto;
      }
      .line {
        white-space: pre;
        height: var(--tall);
        padding: 0 8px;
        width: calc(var(--columns) * 1ch + 16px);
      }
      .cell {
        display: inline-block;
        overflow: hidden;
        vertical-align: top;
        height: var(--tall);
      }
      .bold {
        font-weight: 700;
      }
      .italic {
        font-style: italic;
      }
      .dim {
        opacity: 0.65;
      }
      .under {
        text-decoration: underline;
      }
      .struck {
        text-decoration: line-through;
      }
      .cursor {
        outline: 1px solid var(--accent);
        background: color-mix(in srgb, var(--accent) 45%, transparent);
      }
      .measure {
        position: absolute;
        visibility: hidden;
        font-family: var(--mono);
        white-space: pre;
        pointer-events: none;
      }
    `,
  ];
}

function renderRun({ text, classes, style }: Run) {
  return classes || style ? html`<span class=${classes} .style=${style}>${text}</span>` : text;
}
