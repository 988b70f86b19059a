/** A question about what happened in terminals: in one's own words, and answered as the answer comes. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { stream, t } from "../link";
import "./chinese";

const DRAFT = "draft of a question";

@customElement("dragoman-question")
export class DragomanQuestion extends LitElement {
  /** The terminal of the question; all terminals if none is named. */
  @property() terminal = "";
  /** Whether the answer may use commands of all folders. Only a person can turn this on. */
  @property({ type: Boolean }) everywhere = false;
  @state() private text = sessionStorage.getItem(DRAFT) ?? "";
  @state() private askedQuestion = "";
  @state() private answer = "";
  @state() private error = "";
  @state() private stop: AbortController | null = null;

  /** The answer is no longer needed: stop the model. */
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
    this.stop = stop;
    this.askedQuestion = query;
    this.answer = "";
    this.error = "";
    try {
      const terminals = this.terminal ? [this.terminal] : [];
      const body = { query, terminals, all_workspaces: this.everywhere };
      for await (const piece of stream("/api/terminals/ask", body, stop.signal)) this.answer += piece;
      if (this.text.trim() === query) this.write(""); // the next question may be written already
    } catch (error) {
      if (!stop.signal.aborted) this.error = (error as Error).message;
    } finally {
      this.stop = null;
    }
  }

  override render() {
    const where = this.terminal ? t("Ask about this terminal") : t("Ask about all terminals");
    return html`
      <form
        @submit=${(event: Event) => {
          event.preventDefault();
          void this.ask();
        }}
      >
        <input
          id="question"
          aria-label=${where}
          placeholder=${`${where}: ${t("why did the last build fail?")}`}
          .value=${this.text}
          maxlength="2000"
          @input=${(event: InputEvent) => this.write((event.target as HTMLInputElement).value)}
        />
        ${
          this.stop
            ? html`<button type="button" @click=${() => this.stop?.abort()}>${t("Stop")}</button>`
            : html`<button class="primary" ?disabled=${!this.text.trim()}>${t("Ask")}</button>`
        }
      </form>
      ${this.error ? html`<p class="bad" role="alert">${this.error}</p>` : nothing}
      ${this.askedQuestion ? html`<h2>${this.askedQuestion}</h2>` : html`<p class="empty">${t("Answers come from recorded terminal output.")}</p>`}
      <div
        id="answer"
        role="log"
        aria-busy=${this.stop !== null}
        tabindex="0"
        data-about=${t("an answer about terminals")}
        >${this.answer.split("\n").map((line, index) => [index ? "\n" : "", withInlineCode(line)])}${this.stop ? html`<span class="going">${t("working…")}</span>` : nothing}</div
      >
    `;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
        padding: 0.8rem;
        gap: 0.5rem;
      }
      form {
        display: flex;
        gap: 0.5rem;
      }
      input {
        flex: 1;
        min-width: 0;
      }
      h2 {
        margin: 0.3rem 0 0;
        font-size: 0.95rem;
        overflow-wrap: anywhere;
      }
      p {
        margin: 0;
      }
      #answer {
        flex: 1;
        min-height: 0;
        overflow: auto;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        font: 0.9rem/1.5 var(--mono);
      }
      #answer code {
        color: var(--accent);
      }
      .going {
        color: var(--accent);
      }
    `,
  ];
}
