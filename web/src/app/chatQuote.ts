/** The text that a person selected anywhere in the page, to be quoted in the chat. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { t } from "../link";
import { sharedStyles } from "./styles";

const LONGEST = 4000;

/** Asks for the chat, which may not be loaded yet: it takes what waits when it is. */
class ChatQuote extends EventTarget {
  /** A saved replay has no chat. */
  readonly isThere: boolean = true;
  private quote = "";

  ask(text: string, about: string): void {
    const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
    const quoted = cut
      .trimEnd()
      .split("\n")
      .map((line) => `> ${line}`)
      .join("\n");
    this.quote = `${t("About {what}:", { what: about })}\n${quoted}\n\n`;
    this.dispatchEvent(new Event("quoted"));
  }

  take(): string {
    const text = this.quote;
    this.quote = "";
    return text;
  }
}

export const chatQuote = new ChatQuote();

interface SelectedText {
  text: string;
  about: string;
  rect: DOMRect;
}

@customElement("dragoman-asking")
export class DragomanAsking extends LitElement {
  @state() private selected: SelectedText | null = null;
  private root: Document | ShadowRoot = document;

  override connectedCallback(): void {
    super.connectedCallback();
    for (const kind of ["pointerup", "keyup"] as const) window.addEventListener(kind, this.selectionChanged);
    window.addEventListener("keydown", this.handleKey);
    window.addEventListener("scroll", this.hide, { capture: true, passive: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const kind of ["pointerup", "keyup"] as const) window.removeEventListener(kind, this.selectionChanged);
    window.removeEventListener("keydown", this.handleKey);
    window.removeEventListener("scroll", this.hide, { capture: true });
  }

  private readonly selectionChanged = (event: Event): void => {
    const [target] = event.composedPath();
    if (!(target instanceof Node) || event.composedPath().includes(this)) return;
    this.root = target.getRootNode() as Document | ShadowRoot;
    // A click that takes the choice away has done so then.
    requestAnimationFrame(() => (this.selected = selectionIn(this.root)));
  };

  private readonly handleKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape") this.selected = null;
    if (!(event.altKey && event.shiftKey && event.code === "KeyA")) return;
    this.selected ??= selectionIn(this.root);
    if (this.selected) event.preventDefault();
    this.ask();
  };

  private readonly hide = (): void => {
    this.selected = null;
  };

  private ask(): void {
    if (this.selected) chatQuote.ask(this.selected.text, this.selected.about);
    this.selected = null;
  }

  override render() {
    if (!this.selected) return nothing;
    const { left, top, bottom } = this.selected.rect;
    const y = top > 44 ? top - 38 : bottom + 6;
    const x = Math.min(Math.max(8, left), innerWidth - 160);
    return html`<button
      class="primary"
      .style=${`left:${x}px;top:${Math.min(y, innerHeight - 44)}px`}
      aria-keyshortcuts="Alt+Shift+A"
      title="Alt+Shift+A"
      @click=${this.ask}
      >${t("Ask about this")}</button
    >`;
  }

  static override styles = [
    sharedStyles,
    css`
      button {
        position: fixed;
        z-index: 10;
        box-shadow: 0 3px 12px #0004;
      }
    `,
  ];
}

/** In a view of ours, and not in a field that is being written in. */
function selectionIn(root: Document | ShadowRoot): SelectedText | null {
  // Only Chromium reports the selection inside a shadow tree.
  const ask = (root as { getSelection?: () => Selection | null }).getSelection;
  const selection = ask ? ask.call(root) : document.getSelection();
  const text = selection?.toString() ?? "";
  if (!selection?.rangeCount || !text.trim()) return null;
  const range = selection.getRangeAt(0);
  const about = subjectOf(range.commonAncestorContainer);
  return about ? { text, about, rect: range.getBoundingClientRect() } : null;
}

/** The nearest element with a label, empty where it asks by itself; otherwise the view that contains it. */
function subjectOf(node: Node | null): string {
  for (let at = node; at; at = at.parentNode ?? (at as ShadowRoot).host ?? null) {
    if (!(at instanceof HTMLElement)) continue;
    if (at.dataset["about"] !== undefined) return at.dataset["about"];
    if (at.getAttribute("role") === "tabpanel") return at.dataset["view"] ?? "";
  }
  return "";
}
