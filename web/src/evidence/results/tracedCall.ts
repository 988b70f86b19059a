/** A recorded call as annotated source: beside each executed line what it changed and called. */
import { LitElement, css, html, nothing, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { highlightedLines, tokenStyles } from "../../source/highlight";
import { callText, nested, shownCall, type CallRecord, type Change, type Step } from "./callRecord";
import { resultStyles } from "./styles";

@customElement("dragoman-traced-call")
export class TracedCall extends LitElement {
  @property({ attribute: false }) record: CallRecord | null = null;
  /** The chosen pass of each loop, by the loop's first line. */
  @state() private chosen = new Map<number, number>();
  private items: ReturnType<typeof nested> = [];

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("record")) return;
    this.chosen = new Map();
    this.items = this.record ? nested(this.record) : [];
  }

  override render() {
    const { record } = this;
    if (!record) return nothing;
    const shown = shownCall(this.items, this.chosen, record.end.how !== "returned");
    const code = record.source.map(([, text]) => text).join("\n");
    const margin = Math.min(
      ...record.source.filter(([, it]) => it.trim()).map(([, it]) => it.length - it.trimStart().length),
    );
    const lines = highlightedLines(code, record.file);
    return html`${this.given("arguments", record.args)} ${this.given("closure", record.outer ?? [])}
      <div
        class="source"
        role="list"
        aria-label=${`${record.function}, ${record.file}`}
        data-about=${`${record.file}:${record.first}`}
      >
        ${record.source.map(([number], index) => {
          const steps = shown.steps.get(number) ?? [];
          const loop = shown.loops.get(number);
          const isEnd = number === record.end.line;
          return html`<div
            role="listitem"
            class="line ${steps.length || loop ? "ran" : ""} ${isEnd ? `end ${record.end.how}` : ""}"
            data-line=${number}
          >
            <span class="number">${number}</span
            ><code .style=${`margin-left:${-(Number.isFinite(margin) ? margin : 0)}ch`}>${lines[index]}</code
            ><span class="notes">
              ${loop && loop.passes > 1 ? this.passes(number, loop.passes, loop.chosen) : nothing}
              ${loop?.isGap ? html`<span class="quiet">${t("… {count} steps that were not kept", { count: shown.gaps.get(number)!.gap })}</span>` : nothing}
              ${steps.map((step) => this.notes(step))} ${isEnd ? this.ending(record) : nothing}
            </span></div
          >`;
        })}
      </div>`;
  }

  private given(title: string, them: CallRecord["args"]) {
    if (!them.length) return nothing;
    return html`<div class="given"
      ><span class="quiet small">${t(title)}</span>
      <ul
        >${them.map(([name, value]) => html`<li><span class="name">${name}</span> = <span class="value">${value}</span></li>`)}</ul
      ></div
    >`;
  }

  /** All passes of a loop by a slider, and one by one by its buttons. */
  private passes(head: number, count: number, at: number) {
    const choose = (pass: number) =>
      (this.chosen = new Map(this.chosen).set(head, Math.max(0, Math.min(pass, count - 1))));
    return html`<span
      class="passes"
      role="group"
      aria-label=${t("Iteration of the loop in line {line}", { line: head })}
    >
      <button class="plain" aria-label=${t("Previous iteration")} ?disabled=${at === 0} @click=${() => choose(at - 1)}
        >‹</button
      >
      <input
        type="range"
        min="1"
        max=${count}
        .value=${String(at + 1)}
        aria-label=${t("Iteration")}
        aria-valuetext=${t("iteration {number} of {count}", { number: at + 1, count })}
        @input=${(event: InputEvent) => choose(Number((event.target as HTMLInputElement).value) - 1)}
      />
      <button
        class="plain"
        aria-label=${t("Next iteration")}
        ?disabled=${at === count - 1}
        @click=${() => choose(at + 1)}
        >›</button
      >
      <span class="of">${at + 1}/${count}</span>
    </span>`;
  }

  private notes({ row, changes }: Step) {
    const calls = row.calls.filter(([name, , , error]) => error || !name.endsWith("__init__") || !changes.length);
    return html`${changes.map(changeNote)}
    ${calls.map((call) => html`<span class="note call" title=${call[5] ? `${call[5]}:${call[6]}` : nothing}>${callText(call)}</span>`)}
    ${row.more_calls ? html`<span class="note quiet">${t("… {count} more calls", { count: row.more_calls })}</span>` : nothing}
    ${(row.yielded ?? []).map((value) => html`<span class="note">${t("yields {value}", { value })}</span>`)}
    ${row.note ? html`<span class="note bad">✗ ${row.note}</span>` : nothing}`;
  }

  private ending({ end, rows }: CallRecord) {
    if (end.how === "returned")
      return html`<span class="note result">${end.value === undefined ? t("returned") : html`→ ${end.value}`}</span>`;
    const isSaid = rows.some((row) => "note" in row && row.note === end.error);
    if (end.how === "raised") return isSaid ? nothing : html`<span class="note bad">✗ ${end.error}</span>`;
    return html`<span class="note warn">${t(end.how === "suspended" ? "suspended here" : "still running here")}</span>
      ${(end.values ?? []).map(([name, value]) => html`<span class="note">${name} = ${value}</span>`)}`;
  }

  static override styles = [
    sharedStyles,
    resultStyles,
    tokenStyles,
    css`
      .given {
        display: flex;
        gap: 0.8rem;
        padding: 0.4rem 0.8rem;
        border-bottom: 1px solid var(--line);
        align-items: baseline;
      }
      .given ul {
        display: flex;
        flex-wrap: wrap;
        gap: 0.1rem 1.2rem;
        font: 0.84rem/1.5 var(--mono);
        min-width: 0;
      }
      .given li {
        overflow-wrap: anywhere;
      }
      .name {
        color: var(--quiet);
      }
      .source {
        padding: 0.35rem 0;
        font: 0.85rem/1.6 var(--mono);
      }
      .line {
        display: flex;
        min-height: 1.6em;
        align-items: baseline;
        border-left: 3px solid transparent;
      }
      .line:not(.ran) code {
        opacity: 0.6;
      }
      .line.ran {
        border-left-color: color-mix(in srgb, var(--accent) 55%, transparent);
      }
      .line.raised {
        background: var(--bad-card);
        border-left-color: var(--bad);
      }
      .line.returned {
        background: var(--raised);
      }
      .number {
        width: 3.2rem;
        padding-right: 0.9rem;
        text-align: right;
        color: var(--quiet);
        flex: none;
        user-select: none;
        position: relative;
        z-index: 1;
        background: var(--card);
      }
      .raised .number {
        background: var(--bad-card);
      }
      .returned .number {
        background: var(--raised);
      }
      code {
        font: inherit;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        tab-size: 4;
        flex: 0 1 auto;
        max-width: 60%;
      }
      .notes {
        display: flex;
        flex-wrap: wrap;
        flex: 1 1 0;
        min-width: 0;
        gap: 0.1rem 0.5rem;
        padding: 0 1rem 0 2rem;
        align-items: baseline;
      }
      .note {
        font-size: 0.94em;
        padding: 0 0.4rem;
        border-radius: 0.3rem;
        background: color-mix(in srgb, var(--accent) 10%, transparent);
        white-space: pre;
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .note.call {
        background: none;
        color: var(--quiet);
      }
      .note.result {
        background: var(--added);
        font-weight: 600;
      }
      .note.bad {
        background: none;
        font-weight: 600;
      }
      .raised .note.bad {
        background: none;
      }
      .note.quiet {
        background: none;
      }
      .old {
        color: var(--quiet);
        text-decoration: line-through;
        text-decoration-thickness: 1px;
      }
      .passes {
        display: inline-flex;
        align-items: center;
        gap: 0.1rem;
        font-family: var(--text);
        border: 1px solid var(--line);
        border-radius: 1rem;
        padding: 0 0.5rem 0 0.1rem;
        background: var(--card);
        align-self: center;
      }
      .passes button {
        padding: 0 0.45rem;
        line-height: 1.4;
      }
      .passes input {
        width: 6.5rem;
        padding: 0;
        accent-color: var(--accent);
      }
      .passes .of {
        font-size: 0.8rem;
        min-width: 2.4rem;
        text-align: right;
        font-variant-numeric: tabular-nums;
      }
      @media (max-width: 40rem) {
        .line {
          flex-wrap: wrap;
        }
        .number {
          width: 2.2rem;
          padding-right: 0.5rem;
        }
        code {
          flex: 1;
          max-width: none;
        }
        .notes {
          flex-wrap: wrap;
          flex-basis: 100%;
          padding: 0 0.6rem 0.2rem 2.2rem;
        }
        .notes:empty {
          display: none;
        }
        .note {
          white-space: pre-wrap;
          overflow-wrap: anywhere;
        }
        .given {
          display: block;
        }
      }
    `,
  ];
}

function changeNote({ name, value, old, isAppended }: Change) {
  const before =
    old !== undefined && old !== value && old.length <= 24 ? html`<span class="old">${old}</span> ` : nothing;
  return html`<span class="note" title=${`${name} = ${value}`}
    >${name} ${isAppended ? "+=" : "="} ${before}<span class="value">${value}</span></span
  >`;
}
