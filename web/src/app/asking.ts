/** What a person chose anywhere in the page, to be asked about in the chat. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { t } from "../link";
import { shared } from "./shared";

const LONGEST = 4000;

/** Asks for the chat, which may not be loaded yet: it takes what waits when it is. */
class Asked extends EventTarget {
  private waiting = "";

  about(text: string, about: string): void {
    const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
    const quoted = cut.trimEnd().split("\n").map((line) => `> ${line}`).join("\n");
    this.waiting = `${t("About {what}:", { what: about })}\n${quoted}\n\n`;
    this.dispatchEvent(new Event("asked"));
  }

  take(): string {
    const text = this.waiting;
    this.waiting = "";
    return text;
  }
}

export const asked = new Asked();

interface Chosen {
  text: string;
  about: string;
  place: DOMRect;
}

@customElement("dragoman-asking")
export class DragomanAsking extends LitElement {
  @state() private chosen: Chosen | null = null;
  private root: Document | ShadowRoot = document;

  override connectedCallback(): void {
    super.connectedCallback();
    for (const kind of ["pointerup", "keyup"] as const) window.addEventListener(kind, this.heard);
    window.addEventListener("keydown", this.keyed);
    window.addEventListener("scroll", this.hide, { capture: true, passive: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const kind of ["pointerup", "keyup"] as const) window.removeEventListener(kind, this.heard);
    window.removeEventListener("keydown", this.keyed);
    window.removeEventListener("scroll", this.hide, { capture: true });
  }

  private readonly heard = (event: Event): void => {
    const [target] = event.composedPath();
    if (!(target instanceof Node) || event.composedPath().includes(this)) return;
    this.root = target.getRootNode() as Document | ShadowRoot;
    requestAnimationFrame(() => (this.chosen = chosenIn(this.root))); // a click that takes the choice away has done so then
  };

  private readonly keyed = (event: KeyboardEvent): void => {
    if (event.key === "Escape") this.chosen = null;
    if (!(event.altKey && event.shiftKey && event.code === "KeyA")) return;
    this.chosen ??= chosenIn(this.root);
    if (this.chosen) event.preventDefault();
    this.ask();
  };

  private readonly hide = (): void => {
    this.chosen = null;
  };

  private ask(): void {
    if (this.chosen) asked.about(this.chosen.text, this.chosen.about);
    this.chosen = null;
  }

  override render() {
    if (!this.chosen) return nothing;
    const { left, top, bottom } = this.chosen.place;
    const y = top > 44 ? top - 38 : bottom + 6;
    const x = Math.min(Math.max(8, left), innerWidth - 160);
    return html`<button class="primary" .style=${`left:${x}px;top:${Math.min(y, innerHeight - 44)}px`}
      aria-keyshortcuts="Alt+Shift+A" title="Alt+Shift+A" @click=${this.ask}>${t("Ask about this")}</button>`;
  }

  static override styles = [shared, css`button { position: fixed; z-index: 10; box-shadow: 0 3px 12px #0004; }`];
}

/** In a view of ours, and not in a field that is being written in. */
function chosenIn(root: Document | ShadowRoot): Chosen | null {
  const ask = (root as { getSelection?: () => Selection | null }).getSelection; // of a shadow tree, Chromium alone tells
  const selection = ask ? ask.call(root) : document.getSelection();
  const text = selection?.toString() ?? "";
  if (!selection?.rangeCount || !text.trim()) return null;
  const range = selection.getRangeAt(0);
  const about = aboutOf(range.commonAncestorContainer);
  return about ? { text, about, place: range.getBoundingClientRect() } : null;
}

/** The nearest that says what it is; else the view it stands in. */
function aboutOf(node: Node | null): string {
  for (let at = node; at; at = at.parentNode ?? (at as ShadowRoot).host ?? null) {
    if (!(at instanceof HTMLElement)) continue;
    if (at.dataset["about"]) return at.dataset["about"];
    if (at.getAttribute("role") === "tabpanel") return at.dataset["view"] ?? "";
  }
  return "";
}
