/** Many rows of one height: only those in sight are drawn. In its owner's own tree, so that the owner's styles hold. */
import { LitElement, html } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";

const SPARE = 10;

@customElement("dragoman-rows")
export class DragomanRows extends LitElement {
  @property({ attribute: false }) rows: readonly unknown[] = [];
  @property({ type: Number }) height = 24;
  @property({ attribute: false }) renderRow: (row: never, index: number) => unknown = () => "";
  /**
   * The key of a row, for lists in which new rows appear above others: the row then keeps its element, so a press does
   * not end over another row.
   */
  @property({ attribute: false }) keyOf: (row: never, index: number) => unknown = (_, index) => index;
  /** `end`: the newest row stays visible unless the person has scrolled away from it. */
  @property() anchor: "" | "end" = "";
  @state() private top = 0;
  @state() private viewportHeight = 800;
  /** With `anchor="end"`: whether new rows stay in sight. `at-end` is dispatched when that changes. */
  isAtEnd = true;
  /** The last scroll position, so that the list stays at its end. */
  private anchoredAt = 0;
  private readonly resizeObserver = new ResizeObserver(() => this.resized());

  protected override createRenderRoot() {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    Object.assign(this.style, { display: "block", overflowY: "auto", position: "relative" });
    if (!this.hasAttribute("tabindex")) this.tabIndex = -1;
    if (!this.hasAttribute("role")) this.setAttribute("role", "group"); // without a role, a name is not announced
    this.addEventListener("scroll", this.scrolled, { passive: true });
    this.resizeObserver.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.removeEventListener("scroll", this.scrolled);
    this.resizeObserver.disconnect();
  }

  private readonly scrolled = (): void => {
    this.top = this.scrollTop;
    // More may have come since it was brought there.
    const isKept = this.isAtEnd && this.scrollTop >= this.anchoredAt - 1;
    const was = this.isAtEnd;
    this.isAtEnd = isKept || this.scrollTop + this.clientHeight > this.scrollHeight - 1.5 * this.height;
    if (was !== this.isAtEnd) this.dispatchEvent(new Event("at-end"));
  };

  toEnd(): void {
    this.scrollTop = this.scrollHeight;
  }

  /** Brings a row into sight, unless it is there. */
  reveal(index: number): void {
    const top = index * this.height;
    if (top < this.scrollTop || top > this.scrollTop + this.clientHeight - 2 * this.height)
      this.scrollTop = Math.max(0, top - this.clientHeight / 3);
  }

  private resized(): void {
    this.viewportHeight = this.clientHeight;
    this.scrollToEnd();
  }

  protected override updated(): void {
    this.scrollToEnd();
  }

  private scrollToEnd(): void {
    if (this.anchor !== "end" || !this.isAtEnd) return;
    this.scrollTop = this.scrollHeight;
    this.anchoredAt = this.scrollTop;
  }

  override render() {
    const first = Math.max(0, Math.floor(this.top / this.height) - SPARE);
    const shown = this.rows.slice(first, first + Math.ceil(this.viewportHeight / this.height) + 2 * SPARE);
    const listStyle = `position:absolute;left:0;right:0;top:${first * this.height}px`;
    return html`
      <div .style=${`height:${this.rows.length * this.height}px`} aria-hidden="true"></div>
      <div .style=${listStyle} role="list">
        ${repeat(
          shown.map((row, index) => [row, first + index] as const),
          ([row, index]) => this.keyOf(row as never, index),
          ([row, index]) =>
            html`<div
              role="listitem"
              aria-setsize=${this.rows.length}
              aria-posinset=${index + 1}
              .style=${`height:${this.height}px`}
              >${this.renderRow(row as never, index)}</div
            >`,
        )}
      </div>
    `;
  }
}
