/** The input of the chat: a draft that survives a reload, and completion after a slash. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { gateway, t } from "../link";
import { drafts } from "./drafts";

const COMPLETION_DELAY_MS = 80;
const OFFERED = 12;
/** For a command with nothing after it yet. */
const BEGINNING = /^\/\S*$/;

interface Completion {
  text: string;
  description: string;
}

@customElement("dragoman-prompt")
export class DragomanPrompt extends LitElement {
  @property() key = "";
  @property({ type: Boolean }) running = false;
  /** What the person wrote here, the newest last. */
  @property({ attribute: false }) earlier: string[] = [];
  @state() private text = "";
  @state() private completions: Completion[] = [];
  @state() private selected = -1;
  /** The text is already a command: others only begin with it. */
  private isWhole = false;
  private timer = 0;
  /** How far back in what was said before; none of it where it is 0. */
  private back = 0;
  /** Text may be inserted while another view is open; the input has no size then. */
  private readonly sized = new ResizeObserver(() => this.fit());

  override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("key")) return;
    this.text = drafts.of(this.key);
    this.completions = [];
    this.selected = -1;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.sized.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sized.disconnect();
    clearTimeout(this.timer);
  }

  override updated(): void {
    this.fit();
  }

  /** As high as the text, up to the limit of its style. */
  private fit(): void {
    const box = this.renderRoot.querySelector("textarea");
    if (!box?.clientWidth) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
    if (box.selectionEnd === box.value.length) box.scrollTop = box.scrollHeight;
  }

  /** Inserts a text before what the person has typed in the meantime. */
  put(text: string): void {
    drafts.putBefore(this.key, text);
    this.setText(drafts.of(this.key));
    this.focus();
  }

  /** Removes a returned text that arrived after all, unless it was edited. */
  drop(text: string): void {
    if (this.text.trim() === text) this.setText("");
  }

  override focus(): void {
    void this.updateComplete.then(() => {
      const box = this.renderRoot.querySelector("textarea");
      box?.focus();
      box?.setSelectionRange(box.value.length, box.value.length);
      if (box) box.scrollTop = box.scrollHeight;
    });
  }

  private setText(text: string): void {
    this.back = 0;
    this.text = text;
    drafts.put(this.key, text);
    clearTimeout(this.timer);
    this.completions = [];
    this.selected = -1;
    if (text.startsWith("/")) this.timer = window.setTimeout(() => void this.complete(text), COMPLETION_DELAY_MS);
  }

  private async complete(text: string): Promise<void> {
    try {
      const { offers } = await gateway.request<{ offers: Completion[] }>("dragoman.complete", {
        text: text.slice(0, 2000),
        sessionKey: this.key,
      });
      if (this.text !== text) return;
      this.isWhole = offers.some((offer) => offer.text === text);
      this.completions = offers.filter((offer) => offer.text !== text).slice(0, OFFERED);
    } catch {
      this.completions = []; // what is lost here is shown by the connection's own sign
    }
  }

  /** The offer that Enter takes; none where Enter sends. Of the beginning of a command that is the first one. */
  private get accepted(): number {
    if (this.selected >= 0) return this.selected;
    return this.completions.length && BEGINNING.test(this.text) && !this.isWhole ? 0 : -1;
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.isComposing) return; // Enter ends a word of an input method
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (this.completions.length && step) {
      event.preventDefault();
      this.selected =
        this.accepted < 0 && step < 0
          ? this.completions.length - 1
          : (this.accepted + step + this.completions.length) % this.completions.length;
    } else if (
      this.completions.length &&
      (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && this.accepted >= 0))
    ) {
      event.preventDefault();
      this.accept(this.completions[Math.max(0, this.selected)]!);
    } else if (step && this.recall(-step)) event.preventDefault();
    else if (event.key === "Escape") this.completions = [];
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    }
  }

  /**
   * As in a shell, from an empty box on: what was said before, and back to nothing. Whatever was typed is no place to
   * begin.
   */
  private recall(step: number): boolean {
    const back = this.back + step;
    if ((this.text && !this.back) || back < 0 || back > this.earlier.length) return false;
    this.setText(back ? this.earlier.at(-back)! : "");
    clearTimeout(this.timer); // what is complete needs no offers, which would take the next key
    this.back = back;
    this.focus();
    return true;
  }

  /** Text that ends like this is not finished. */
  private accept(offer: Completion): void {
    this.setText(/[/:=]$/.test(offer.text) ? offer.text : `${offer.text} `);
    this.focus();
  }

  private send(): void {
    const text = this.text.trim();
    if (!text) return;
    this.dispatchEvent(new CustomEvent("said", { detail: text }));
    this.setText("");
  }

  override render() {
    return html`
      ${this.completions.length ? this.list() : nothing}
      <form
        @submit=${(event: Event) => {
          event.preventDefault();
          this.send();
        }}
      >
        <textarea
          rows="2"
          aria-label=${t("Message")}
          placeholder=${t("Ask, or / for commands")}
          .value=${this.text}
          spellcheck="false"
          role="combobox"
          aria-expanded=${this.completions.length > 0}
          aria-controls="offers"
          aria-autocomplete="list"
          aria-activedescendant=${this.accepted >= 0 ? `offer-${this.accepted}` : nothing}
          @input=${(event: InputEvent) => this.setText((event.target as HTMLTextAreaElement).value)}
          @keydown=${this.handleKey}
        ></textarea>
        ${
          this.running
            ? html`<button type="button" class="stop" @click=${() => this.dispatchEvent(new Event("stopped"))}
                >${t("Stop")}</button
              >`
            : nothing
        }
        <button class="primary" ?disabled=${!this.text.trim()}>${t("Send")}</button>
      </form>
    `;
  }

  private list() {
    return html`<ul id="offers" role="listbox" aria-label=${t("Completions")}>
      ${this.completions.map(
        (offer, index) =>
          html`<li
            id="offer-${index}"
            role="option"
            aria-selected=${index === this.accepted}
            @mousedown=${(event: Event) => {
              event.preventDefault();
              this.accept(offer);
            }}
            ><b>${offer.text}</b> <span class="quiet">${offer.description}</span></li
          >`,
      )}
    </ul>`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
        position: relative;
      }
      form {
        display: flex;
        gap: 0.6rem;
        align-items: flex-end;
      }
      textarea {
        flex: 1;
        resize: none;
        min-height: 3.2rem;
        max-height: 40dvh;
      }
      .stop {
        color: var(--bad);
        border-color: var(--bad);
      }
      #offers {
        position: absolute;
        bottom: 100%;
        left: 0;
        margin: 0 0 0.3rem;
        padding: 0.3rem 0;
        list-style: none;
        max-width: 100%;
        max-height: 16rem;
        overflow: auto;
        background: var(--card);
        border: 1px solid var(--line);
        border-radius: 0.5rem;
        box-shadow: 0 4px 16px #0003;
        font-size: 0.9rem;
        z-index: 2;
      }
      li b {
        font: 0.9rem var(--mono);
      }
      li {
        padding: 0.2rem 0.9rem;
        cursor: pointer;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      li:hover,
      li[aria-selected="true"] {
        background: var(--raised);
      }
      li[aria-selected="true"] b {
        color: var(--accent);
      }
    `,
  ];
}
