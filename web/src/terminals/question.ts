/** A question about what happened in terminals: in one's own words, and answered as the answer comes. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { shared } from "../app/shared";
import { spoken } from "../app/spoken";
import { stream, t } from "../link";
import "./chinese";

const DRAFT = "draft of a question";

@customElement("dragoman-question")
export class DragomanQuestion extends LitElement {
  /** Of which terminal; all of them when none is named. */
  @property() terminal = "";
  /** Whether what every folder's commands showed may be in the answer: a person's switch. */
  @property({ type: Boolean }) everywhere = false;
  @state() private text = sessionStorage.getItem(DRAFT) ?? "";
  @state() private asked = "";
  @state() private answer = "";
  @state() private trouble = "";
  @state() private stop: AbortController | null = null;

  /** Nobody reads what comes after this: the model is not kept busy with it. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop?.abort();
  }

  private write(text: string): void {
    this.text = text;
    sessionStorage.setItem(DRAFT, text);
  }

  private async ask(): Promise<void> {
    const query = this.text.trim();
    if (!query || this.stop) return;
    const stop = new AbortController();
    Object.assign(this, { stop, asked: query, answer: "", trouble: "" });
    try {
      const terminals = this.terminal ? [this.terminal] : [];
      const asked = { query, terminals, all_workspaces: this.everywhere };
      for await (const piece of stream("/api/terminals/ask", asked, stop.signal)) this.answer += piece;
      if (this.text.trim() === query) this.write(""); // the next question may be written already
    } catch (error) {
      if (!stop.signal.aborted) this.trouble = (error as Error).message;
    } finally {
      this.stop = null;
    }
  }

  override render() {
    const where = this.terminal ? t("Ask about this terminal") : t("Ask about all terminals");
    return html`
      <form @submit=${(event: Event) => { event.preventDefault(); void this.ask(); }}>
        <input
          id="question" aria-label=${where} placeholder=${`${where}: ${t("why did the last build fail?")}`} .value=${this.text} maxlength="2000"
          @input=${(event: InputEvent) => this.write((event.target as HTMLInputElement).value)}
        />
        ${this.stop
          ? html`<button type="button" @click=${() => this.stop?.abort()}>${t("Stop")}</button>`
          : html`<button class="primary" ?disabled=${!this.text.trim()}>${t("Ask")}</button>`}
      </form>
      ${this.trouble ? html`<p class="bad" role="alert">${this.trouble}</p>` : nothing}
      ${this.asked ? html`<h2>${this.asked}</h2>` : html`<p class="empty">${t("Answers come from what the terminals showed.")}</p>`}
      <div id="answer" role="log" aria-busy=${this.stop !== null} tabindex="0" data-about=${t("an answer about terminals")}>${this.answer.split("\n").map((line, index) => [index ? "\n" : "", spoken(line)])}${this.stop ? html`<span class="going">${t("working…")}</span>` : nothing}</div>
    `;
  }

  static override styles = [
    shared,
    css`
      :host { display: flex; flex-direction: column; min-height: 0; padding: .8rem; gap: .5rem; }
      form { display: flex; gap: .5rem; } input { flex: 1; min-width: 0; }
      h2 { margin: .3rem 0 0; font-size: .95rem; overflow-wrap: anywhere; }
      p { margin: 0; }
      #answer { flex: 1; min-height: 0; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: .9rem/1.5 var(--mono); }
      #answer code { color: var(--accent); }
      .going { color: var(--accent); }
    `,
  ];
}
