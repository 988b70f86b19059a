/** A few lines of a file around one of them. */
import { LitElement, css, html, nothing, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { callToolIn } from "../../debugger/tools";
import { t } from "../../link";
import { highlightedLines, tokenStyles } from "../../source/highlight";

const AROUND = 3;

@customElement("dragoman-source-excerpt")
export class SourceExcerpt extends LitElement {
  @property() path = "";
  @property({ type: Number }) line = 0;
  @property() workspace = "";
  /** What stands beside the line. */
  @property({ attribute: false }) notes: readonly string[] = [];
  @state() private lines: string[] = [];
  @state() private first = 1;
  @state() private problem = "";

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("path") || changed.has("line")) void this.read();
  }

  private async read(): Promise<void> {
    const { path, line } = this;
    const first = Math.max(1, line - AROUND);
    const args = { file_path: path, line: first, count: 2 * AROUND + 1 };
    const { data, text, is_error } = await callToolIn(this.workspace, "get_source", args);
    if (path !== this.path || line !== this.line) return;
    this.problem = is_error ? String(data["message"] ?? text) : "";
    [this.lines, this.first] = [is_error ? [] : (data["lines"] as string[]), first];
  }

  override render() {
    if (this.problem) return html`<p class="quiet">${this.problem}</p>`;
    const shown = highlightedLines(this.lines.join("\n"), this.path);
    return html`<div
      class="source"
      role="list"
      aria-label=${t("Source of {place}", { place: `${this.path}:${this.line}` })}
      data-about=${`${this.path}:${this.line}`}
      >${this.lines.map((_, index) => {
        const number = this.first + index;
        const isIt = number === this.line;
        return html`<div role="listitem" class="line ${isIt ? "it" : ""}" aria-current=${isIt ? "true" : nothing}
          ><span class="number">${number}</span
          ><code>${shown[index]}</code
          >${isIt && this.notes.length ? html`<span class="notes">${this.notes.map((it) => html`<span class="note" title=${it}>${it}</span>`)}</span>` : nothing}</div
        >`;
      })}</div
    >`;
  }

  static override styles = [
    sharedStyles,
    tokenStyles,
    css`
      :host {
        display: block;
        overflow-x: auto;
        font: 0.84rem/1.55 var(--mono);
        background: var(--card);
      }
      .line {
        display: flex;
        min-width: max-content;
        padding-right: 1rem;
      }
      .it {
        background: var(--marked);
      }
      .number {
        width: 3.2rem;
        padding-right: 0.9rem;
        text-align: right;
        color: var(--quiet);
        flex: none;
        user-select: none;
      }
      code {
        font: inherit;
        white-space: pre;
        tab-size: 4;
      }
      .notes {
        display: flex;
        gap: 0.4rem;
        padding-left: 2rem;
      }
      .note {
        max-width: 26rem;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
        padding: 0 0.4rem;
        border-radius: 0.3rem;
        background: color-mix(in srgb, var(--card) 65%, transparent);
      }
      p {
        padding: 0.4rem 0.8rem;
        margin: 0;
      }
    `,
  ];
}
