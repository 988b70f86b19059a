/** The console: expressions that the person evaluates in the chosen frame, among those of agents. */
import { css, html, nothing, type PropertyValues } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { timeOfDay } from "../../parts/time";
import { DebuggerPane } from "../panes/pane";
import { paneStyles } from "../panes/styles";
import "../variables/variableTree";
import type { VariableNode } from "../variables/variableTree";
import { completed, completions, type Completion } from "./completions";
import { ConsoleHistory } from "./consoleHistory";
import type { Evaluation } from "./consoleLog";

const ROWS_AT_MOST = 12;
const SHOWN_COMPLETIONS = 12;

@customElement("dragoman-console-pane")
export class ConsolePane extends DebuggerPane {
  @query("textarea") private field!: HTMLTextAreaElement;
  @query(".log") private log!: HTMLElement;
  @state() private offered: readonly Completion[] = [];
  @state() private chosen = 0;
  private readonly history = new ConsoleHistory();
  private readonly roots = new WeakMap<Evaluation, VariableNode[]>();
  private shownKey = "";

  protected override willUpdate(): void {
    void this.history.open(this.controller.sessions.workspace);
  }

  /** The newest stays in sight. */
  protected override updated(_: PropertyValues): void {
    const last = this.controller.console.of(this.controller.sessions.selected).at(-1);
    const key = `${last?.key} ${last?.isPending}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    requestAnimationFrame(() => (this.log.scrollTop = this.log.scrollHeight));
  }

  override render() {
    const { sessions, console, inspection } = this.controller;
    const entries = console.of(sessions.selected);
    const canAsk = inspection.frame !== null && !this.controller.history.pastStop;
    return html`<div class="log" role="log" aria-label=${t("Console")} tabindex="0"
        >${entries.length ? nothing : html`<p class="none">${t("Evaluate an expression in the chosen frame. What agents evaluate appears here too.")}</p>`}${repeat(
          entries,
          ({ key }) => key,
          (it) => this.entry(it),
        )}</div
      ><div class="ask"
        >${this.offered.length ? this.completionList() : nothing}<span class="prompt" aria-hidden="true">›</span
        ><textarea
          id="console"
          class="mono"
          rows="1"
          aria-label=${t("Expression to evaluate")}
          placeholder=${t(canAsk ? "An expression, then Enter" : "The program is not stopped.")}
          spellcheck="false"
          autocomplete="off"
          autocapitalize="off"
          aria-controls="offered"
          @keydown=${this.pressed}
          @input=${this.typed}
          @blur=${() => (this.offered = [])}
        ></textarea>
      </div>`;
  }

  private entry(it: Evaluation) {
    return html`<article class=${it.isOwn ? "own" : "other"}
      ><div class="asked"
        ><span class="who" title=${timeOfDay(it.at)}>${it.actor}</span><code>${it.expression}</code></div
      >${this.outcome(it)}</article
    >`;
  }

  private outcome(it: Evaluation) {
    if (it.isPending) return html`<div class="result quiet">…</div>`;
    if (it.isError) return html`<pre class="result bad" role="alert">${it.result}</pre>`;
    const isPresent = it.reference > 0 && it.stop === this.controller.inspection.stopKey;
    if (!isPresent) return html`<pre class="result"><span class="equals">→ </span>${it.result}</pre>`;
    return html`<dragoman-values
      class="result"
      label=${t("Result of {expression}", { expression: it.expression })}
      .rowsAtMost=${ROWS_AT_MOST}
      .roots=${this.rootsOf(it)}
      .load=${this.controller.inspection.variables}
      .assign=${this.controller.inspection.assign}
      .readWhole=${this.controller.inspection.whole}
      @watch-expression=${(event: CustomEvent<string>) => void this.controller.inspection.watch(event.detail)}
    ></dragoman-values>`;
  }

  /** The same node each time: a new one would close what is open. */
  private rootsOf(it: Evaluation): VariableNode[] {
    const known = this.roots.get(it) ?? [
      { name: "→", value: it.result, type: it.type, reference: it.reference, expression: it.expression },
    ];
    this.roots.set(it, known);
    return known;
  }

  private completionList() {
    return html`<ul id="offered" role="listbox" aria-label=${t("Completions")}
      >${this.offered
        .slice(0, SHOWN_COMPLETIONS)
        .map(
          (it, index) =>
            html`<li
              role="option"
              aria-selected=${index === this.chosen}
              @pointerdown=${(event: PointerEvent) => (event.preventDefault(), this.complete(it))}
              >${it.label}</li
            >`,
        )}</ul
    >`;
  }

  private readonly pressed = (event: KeyboardEvent): void => {
    if (this.offered.length && this.pressedInList(event)) return event.preventDefault();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void this.evaluate();
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void this.offer();
    } else if (event.key === "ArrowUp" && !this.textBefore.includes("\n")) this.recall(event, -1);
    else if (event.key === "ArrowDown" && !this.textAfter.includes("\n")) this.recall(event, 1);
  };

  private pressedInList(event: KeyboardEvent): boolean {
    const count = Math.min(this.offered.length, SHOWN_COMPLETIONS);
    if (event.key === "ArrowDown") this.chosen = (this.chosen + 1) % count;
    else if (event.key === "ArrowUp") this.chosen = (this.chosen + count - 1) % count;
    else if (event.key === "Escape") this.offered = [];
    else if (event.key === "Tab" || event.key === "Enter") this.complete(this.offered[this.chosen]!);
    else return false;
    return true;
  }

  private get textBefore(): string {
    return this.field.value.slice(0, this.field.selectionStart);
  }

  private get textAfter(): string {
    return this.field.value.slice(this.field.selectionEnd);
  }

  private recall(event: KeyboardEvent, by: 1 | -1): void {
    const text = this.history.step(by, this.field.value);
    if (text === null) return;
    event.preventDefault();
    this.write(text, text.length);
  }

  private write(text: string, cursor: number): void {
    this.field.value = text;
    this.field.setSelectionRange(cursor, cursor);
    this.fit();
  }

  private fit(): void {
    this.field.rows = Math.min(8, this.field.value.split("\n").length);
  }

  private readonly typed = (): void => {
    this.fit();
    this.offered = [];
    if (this.textBefore.endsWith(".")) void this.offer();
  };

  private async offer(): Promise<void> {
    const { frame } = this.controller.inspection;
    const { value, selectionStart } = this.field;
    if (!frame) return;
    const { selected } = this.controller.sessions;
    const found = await completions(selected, frame.frame_id, value, selectionStart).catch(() => []);
    const isSame = this.field.value === value && this.field.selectionStart === selectionStart;
    [this.offered, this.chosen] = [isSame ? found : [], 0];
  }

  private complete(it: Completion): void {
    this.offered = [];
    this.write(...completed(this.field.value, this.field.selectionStart, it));
  }

  private async evaluate(): Promise<void> {
    const expression = this.field.value.trim();
    if (!expression) return;
    this.history.add(expression);
    this.write("", 0);
    await this.controller.inspection.evaluate(expression);
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      :host {
        background: var(--card);
      }
      .log {
        flex: 1;
        min-height: 0;
        overflow-y: auto;
        padding: 0.2rem 0;
      }
      article {
        padding: 0.15rem 0.8rem;
        border-left: 3px solid transparent;
      }
      .other {
        border-left-color: var(--accent);
      }
      .asked {
        display: flex;
        gap: 0.5rem;
        align-items: baseline;
        font-size: 0.82rem;
      }
      .who {
        flex: none;
        color: var(--quiet);
        font-size: 0.75rem;
      }
      .other .who {
        color: var(--accent);
        font-weight: 600;
      }
      code,
      pre {
        margin: 0;
        font: 0.82rem/1.45 var(--mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .result {
        max-height: 16rem;
        overflow-y: auto;
      }
      pre.result {
        padding-left: 0.3rem;
      }
      .equals {
        color: var(--quiet);
      }
      .ask {
        position: relative;
        display: flex;
        flex: none;
        align-items: flex-start;
        gap: 0.3rem;
        padding: 0.2rem 0.5rem 0.2rem 0.8rem;
        border-top: 1px solid var(--line);
      }
      .prompt {
        color: var(--accent);
        font: 700 1rem/1.5 var(--mono);
      }
      textarea {
        flex: 1;
        min-width: 0;
        padding: 0.2rem 0.3rem;
        border: 0;
        background: none;
        resize: none;
        font: 0.82rem/1.45 var(--mono);
      }
      #offered {
        position: absolute;
        left: 1.6rem;
        bottom: 100%;
        min-width: 12rem;
        max-width: 90%;
        padding: 0.2rem;
        border: 1px solid var(--line);
        border-radius: 0.4rem;
        background: var(--card);
        box-shadow: 0 4px 16px #0003;
        font: 0.82rem var(--mono);
      }
      #offered li {
        padding: 0.1rem 0.5rem;
        border-radius: 0.25rem;
        cursor: pointer;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      #offered [aria-selected="true"] {
        background: var(--accent);
        color: var(--on-accent);
      }
    `,
  ];
}
