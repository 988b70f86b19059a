/** The source: the line that is run next, and breakpoints to click. Only the lines in sight are drawn. */
import { LitElement, css, html, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { chatQuote } from "../app/chatQuote";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "../parts/rows";
import type { Breakpoint } from "./toolResults";
import type { SourceFile } from "./sourceFile";

const HEIGHT = 21;

@customElement("dragoman-source")
export class DragomanSource extends LitElement {
  @property({ attribute: false }) text: SourceFile | null = null;
  @property({ attribute: false }) at: (line: number) => Breakpoint | null | undefined = () => undefined;
  @property({ type: Number }) current = 0;
  @property({ type: Boolean }) isTop = true;
  /** Whether there is a debugger that could have bound breakpoints. */
  @property({ type: Boolean }) isLive = false;
  @property({ attribute: false }) revealed = { line: 0, times: 0 };
  @state() private cursor = 1;
  /** Where lines that are selected with Shift and an arrow begin; the cursor is their other end. */
  @state() private anchor = 0;
  @query("dragoman-rows") private list!: HTMLElement | null;
  private reached = "";
  private numbers: number[] = [];

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("text")) this.anchor = 0;
  }

  /** Lines are counted before they are read, so a place far down is reached at once. */
  protected override updated(changed: PropertyValues): void {
    const revealKey = `${this.text?.path}:${this.revealed.times}`;
    if (!this.list || !this.text?.total || revealKey === this.reached) return;
    this.reached = revealKey;
    if (!this.revealed.line) return;
    this.cursor = this.revealed.line;
    const top = (this.revealed.line - 1) * HEIGHT;
    const { scrollTop, clientHeight } = this.list;
    const isInSight = top > scrollTop + HEIGHT && top < scrollTop + clientHeight - 3 * HEIGHT;
    const list = this.list;
    if (!isInSight || changed.has("text"))
      requestAnimationFrame(() => (list.scrollTop = Math.max(0, top - list.clientHeight / 3)));
  }

  override render() {
    if (!this.text) return html`<p class="empty">${t("Open a file, or start a configuration.")}</p>`;
    if (this.text.error) return html`<p class="empty">${this.text.error}</p>`;
    if (this.numbers.length !== this.text.total)
      this.numbers = Array.from({ length: this.text.total }, (_, index) => index + 1);
    return html`<dragoman-rows
        .rows=${this.numbers}
        .height=${HEIGHT}
        .renderRow=${(number: number) => this.line(number)}
        aria-label=${this.text.path}
        data-about=${this.text.path}
        @keydown=${this.handleKey}
      ></dragoman-rows
      >${this.asking()}`;
  }

  private get picked(): [number, number] {
    return this.anchor ? [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor)] : [0, 0];
  }

  private asking() {
    const [from, to] = this.picked;
    return html`<p class="asking" role="status"
      >${
        from
          ? html`<button class="primary" aria-keyshortcuts="Alt+Shift+A" title="Alt+Shift+A" @click=${this.ask}
              >${t("Ask about lines {from} to {to}", { from, to })}</button
            >`
          : nothing
      }</p
    >`;
  }

  private ask(): void {
    const [from, to] = this.picked;
    const lines = Array.from({ length: to - from + 1 }, (_, index) => this.text?.line(from - 1 + index) ?? "");
    this.anchor = 0;
    chatQuote.ask(lines.join("\n"), `${this.text?.path}:${from}-${to}`);
  }

  private line(number: number) {
    const pendingToggle = this.text?.pendingToggles.get(number);
    const breakpoint = pendingToggle === false ? undefined : (this.at(number) ?? undefined);
    const isCurrent = number === this.current;
    const isPicked = number >= this.picked[0] && number <= this.picked[1];
    return html`<div
      class="line ${isCurrent ? (this.isTop ? "current" : "caller") : ""} ${isPicked ? "picked" : ""}"
      aria-current=${isCurrent ? "step" : nothing}
      data-about=${`${this.text?.path}:${number}`}
    >
      <button
        class="plain gutter ${breakpointClass(breakpoint, this.isLive) || (pendingToggle ? "waiting" : "")}"
        data-line=${number}
        tabindex=${number === this.cursor ? 0 : -1}
        aria-pressed=${pendingToggle ?? breakpoint !== undefined}
        aria-label=${t("Breakpoint at line {line}", { line: number })}
        title=${breakpointTitle(breakpoint)}
        @click=${() => this.toggle(number)}
        ><span class="dot" aria-hidden="true"></span>${number}</button
      ><code>${this.text?.line(number - 1) ?? ""}</code></div
    >`;
  }

  private toggle(line: number): void {
    this.cursor = line;
    this.dispatchEvent(new CustomEvent("toggle-breakpoint", { detail: line }));
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.anchor = 0;
    if (this.anchor && event.altKey && event.shiftKey && event.code === "KeyA") {
      event.stopPropagation(); // these lines are meant, and nothing that was chosen elsewhere
      event.preventDefault();
      return this.ask();
    }
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (!step || !this.text || !this.list) return;
    event.preventDefault();
    this.anchor = event.shiftKey ? this.anchor || this.cursor : 0;
    this.cursor = Math.min(Math.max(1, this.cursor + step), this.text.total);
    const top = (this.cursor - 1) * HEIGHT;
    const { scrollTop, clientHeight } = this.list;
    if (top < scrollTop || top > scrollTop + clientHeight - 2 * HEIGHT) this.list.scrollTop = top - clientHeight / 2;
    requestAnimationFrame(() =>
      this.renderRoot.querySelector<HTMLElement>(`[data-line="${this.cursor}"]`)?.focus({ preventScroll: true }),
    );
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
        position: relative;
        background: var(--card);
      }
      dragoman-rows {
        flex: 1;
        min-height: 0;
      }
      .line {
        display: flex;
        align-items: stretch;
        height: 21px;
        min-width: max-content;
        font: 0.85rem/21px var(--mono);
      }
      .gutter {
        position: sticky;
        left: 0;
        width: 4.6rem;
        flex: none;
        padding: 0 0.7rem 0 0;
        border: 0;
        border-radius: 0;
        text-align: right;
        font: inherit;
        color: var(--quiet);
        background: var(--card);
        display: flex;
        justify-content: flex-end;
        align-items: center;
        user-select: none;
      }
      .dot {
        width: 0.72rem;
        height: 0.72rem;
        border-radius: 50%;
        margin-right: auto;
        margin-left: 0.6rem;
        border: 2px solid transparent;
      }
      .gutter:hover .dot {
        border-color: var(--bad);
        opacity: 0.5;
      }
      .gutter.set .dot {
        background: var(--bad);
        border-color: var(--bad);
        opacity: 1;
      }
      .gutter.waiting .dot {
        background: none;
        border-color: var(--bad);
        opacity: 1;
      }
      .gutter.off .dot {
        background: none;
        border-color: var(--quiet);
        opacity: 1;
      }
      .gutter:focus-visible {
        outline-offset: -2px;
      }
      code {
        font: inherit;
        white-space: pre;
        tab-size: 4;
        padding-right: 1rem;
        flex: 1;
      }
      .current,
      .current .gutter {
        background: var(--marked);
      }
      .current .gutter {
        color: var(--ink);
        font-weight: 600;
      }
      .picked code {
        background: var(--raised);
        box-shadow: inset 3px 0 var(--accent);
      }
      .asking {
        margin: 0;
        position: absolute;
        right: 0.8rem;
        bottom: 0.5rem;
      }
      .caller,
      .caller .gutter {
        background: var(--raised);
      }
    `,
  ];
}

function breakpointClass(breakpoint: Breakpoint | undefined, isLive: boolean): string {
  if (!breakpoint) return "";
  return !breakpoint.enabled ? "off" : breakpoint.verified || !isLive ? "set" : "waiting";
}

/** The condition of a breakpoint, and what the debugger reports about it. */
export function breakpointTitle(breakpoint: Breakpoint | undefined): string {
  if (!breakpoint) return "";
  const { condition, hit_condition, log_message, message } = breakpoint;
  return [condition && `if ${condition}`, hit_condition, log_message, message].filter(Boolean).join("; ");
}
