/** The line between two panes: dragged, or moved with the arrow keys; Enter and a double click restore its place. */
import { LitElement, css, html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { clamped, sizeByKey } from "./paneLayout";

@customElement("dragoman-splitter")
export class DragomanSplitter extends LitElement {
  @property() label = "";
  /** The pane whose size it changes is before it, or after it. */
  @property() side: "before" | "after" = "before";
  /** `columns`: between two that stand side by side. */
  @property({ reflect: true }) between: "columns" | "rows" = "columns";
  @property({ type: Number }) standard = 200;
  @property({ type: Number }) least = 80;
  private dragged: { at: number; size: number } | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.tabIndex = 0;
    this.setAttribute("role", "separator");
    this.addEventListener("pointerdown", this.begin);
    this.addEventListener("pointermove", this.move);
    this.addEventListener("pointerup", this.end);
    this.addEventListener("pointercancel", this.end);
    this.addEventListener("keydown", this.pressed);
    this.addEventListener("dblclick", () => this.resize(this.standard));
    this.addEventListener("focus", () => this.describe());
  }

  protected override updated(): void {
    this.setAttribute("aria-label", this.label);
    this.setAttribute("aria-orientation", this.between === "columns" ? "vertical" : "horizontal");
    this.describe();
  }

  private get pane(): HTMLElement {
    return (this.side === "before" ? this.previousElementSibling : this.nextElementSibling) as HTMLElement;
  }

  private get size(): number {
    const { width, height } = this.pane.getBoundingClientRect();
    return this.between === "columns" ? width : height;
  }

  /** What is left for the others: nobody can push them out of sight. */
  private get most(): number {
    const { clientWidth, clientHeight } = this.parentElement!;
    return Math.max(this.least, Math.round(0.6 * (this.between === "columns" ? clientWidth : clientHeight)));
  }

  private describe(): void {
    this.setAttribute("aria-valuemin", String(this.least));
    this.setAttribute("aria-valuemax", String(this.most));
    this.setAttribute("aria-valuenow", String(Math.round(this.size)));
  }

  private readonly begin = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.setPointerCapture(event.pointerId);
    this.dragged = { at: this.position(event), size: this.size };
  };

  private readonly move = (event: PointerEvent): void => {
    if (!this.dragged) return;
    const by = this.position(event) - this.dragged.at;
    this.resize(this.dragged.size + (this.side === "before" ? by : -by));
  };

  private readonly end = (): void => {
    this.dragged = null;
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    const { size, least, most } = this;
    const isTowards = this.side === "before";
    const mirrored: Record<string, string> = {
      ArrowLeft: "ArrowRight",
      ArrowRight: "ArrowLeft",
      ArrowUp: "ArrowDown",
      ArrowDown: "ArrowUp",
    };
    const key = isTowards ? event.key : (mirrored[event.key] ?? event.key);
    const wanted = sizeByKey(key, { size, least, most }, event.shiftKey, this.standard);
    if (wanted === null) return;
    event.preventDefault();
    this.resize(wanted);
  };

  private position({ clientX, clientY }: PointerEvent): number {
    return this.between === "columns" ? clientX : clientY;
  }

  private resize(size: number): void {
    this.dispatchEvent(new CustomEvent("resize-pane", { detail: clamped(size, this.least, this.most) }));
    requestAnimationFrame(() => this.describe());
  }

  override render() {
    return html``;
  }

  static override styles = css`
    :host {
      flex: none;
      position: relative;
      z-index: 2;
      touch-action: none;
      outline: none;
    }
    :host([between="columns"]) {
      width: 7px;
      margin: 0 -3px;
      cursor: col-resize;
    }
    :host([between="rows"]) {
      height: 7px;
      margin: -3px 0;
      cursor: row-resize;
    }
    :host(:hover),
    :host(:active) {
      background: color-mix(in srgb, var(--accent) 45%, transparent);
    }
    :host(:focus-visible) {
      background: var(--accent);
      outline: 2px solid var(--accent);
      outline-offset: -2px;
    }
  `;
}
