/** What the program printed, with its colours: errors distinguished, and each word of it to be found. */
import { css, html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { ansiRuns } from "../../parts/ansi";
import { copyText } from "../../parts/clipboard";
import "../../parts/rows";
import type { DragomanRows } from "../../parts/rows";
import { DebuggerPane } from "../panes/pane";
import { paneStyles } from "../panes/styles";
import { lastState, visibleText, type OutputLine } from "./outputLines";
import { OutputSearch, marked } from "./outputSearch";

const HEIGHT = 19;

@customElement("dragoman-output-pane")
export class OutputPane extends DebuggerPane {
  @query("dragoman-rows") private rows!: DragomanRows;
  @query("#find") private field!: HTMLInputElement | null;
  @state() private isSearching = false;
  @state() private isCopied = false;
  private readonly search = new OutputSearch();
  private timer = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
    this.timer = 0;
  }

  /** What is new is searched too. */
  protected override updated(): void {
    if (this.isSearching && this.search.query) this.timer ||= window.setTimeout(() => this.searchOn(), 0);
  }

  private searchOn(): void {
    this.timer = 0;
    const before = this.search.hits.length;
    const hasMore = this.search.advance(this.controller.output.lines);
    if (this.search.chosen < 0 && this.search.hits.length) this.reveal(this.search.step(1));
    if (hasMore) this.timer = window.setTimeout(() => this.searchOn(), 0);
    if (hasMore || this.search.hits.length !== before) this.requestUpdate();
  }

  override render() {
    const { lines } = this.controller.output;
    const then = this.controller.history.outputThen;
    return html`<div class="tools ${this.isSearching ? "searching" : ""}"
        >${this.isSearching ? this.finder() : nothing}
        <button
          id="find-output"
          class="plain"
          aria-keyshortcuts="Control+F"
          title="${t("Find in the output")} (Ctrl+F)"
          aria-label=${t("Find in the output")}
          @click=${this.openSearch}
          >${t("Find")}</button
        >
        <button
          id="copy-output"
          class="plain"
          title=${t("Copy the output")}
          aria-label=${t("Copy the output")}
          @click=${this.copy}
          >${this.isCopied ? t("Copied") : t("Copy")}</button
        >
        <button
          id="clear-output"
          class="plain"
          title=${t("Clear the view")}
          aria-label=${t("Clear the view")}
          @click=${() => this.controller.output.clear()}
          >${t("Clear")}</button
        ></div
      ><dragoman-rows
        id="output"
        anchor="end"
        tabindex="0"
        aria-label=${t("Output")}
        data-about=${t("what the program printed")}
        .rows=${then ?? lines.all}
        .height=${HEIGHT}
        .renderRow=${(line: OutputLine, index: number) => this.line(line, then ? -1 : lines.dropped + index)}
        @at-end=${() => this.requestUpdate()}
        @keydown=${this.pressed}
      ></dragoman-rows
      >${
        this.rows?.isAtEnd === false
          ? html`<button id="to-end" class="primary" @click=${() => this.rows.toEnd()}>↓ ${t("To the end")}</button>`
          : nothing
      }`;
  }

  private line(line: OutputLine, number: number) {
    const { query, hits, chosen } = this.search;
    const runs = ansiRuns(lastState(line.text), new Set(line.look ? line.look.split(" ") : []));
    const kind = line.category === "stdout" ? "" : line.category === "stderr" ? "stderr" : "console";
    return html`<div class="printed ${kind} ${number === hits[chosen] ? "found" : ""}" title=${kind || nothing}
      >${marked(runs, this.isSearching ? query : "").map(({ text, look, isHit }) =>
        isHit ? html`<mark>${text}</mark>` : look ? html`<span class=${look}>${text}</span>` : text,
      )}</div
    >`;
  }

  private finder() {
    const { hits, chosen, query } = this.search;
    const count = query ? t("{number} of {count}", { number: chosen + 1, count: hits.length }) : "";
    return html`<search
      ><input
        id="find"
        type="search"
        aria-label=${t("Find in the output")}
        placeholder=${t("Find")}
        .value=${query}
        spellcheck="false"
        @input=${this.typed}
        @keydown=${this.pressedInField}
      /><span id="hits" role="status">${count}</span
      ><button
        class="plain"
        aria-label=${t("Previous hit")}
        title="${t("Previous hit")} (Shift+F3)"
        @click=${() => this.step(-1)}
        >↑</button
      ><button class="plain" aria-label=${t("Next hit")} title="${t("Next hit")} (F3)" @click=${() => this.step(1)}
        >↓</button
      ><button class="plain" aria-label=${t("Close the search")} @click=${this.closeSearch}>×</button></search
    >`;
  }

  private readonly typed = (event: InputEvent): void => {
    this.search.find((event.target as HTMLInputElement).value);
    this.requestUpdate();
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key === "f") {
      event.preventDefault();
      this.openSearch();
    } else if (event.key === "F3" && this.isSearching) {
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && this.isSearching) this.closeSearch();
  };

  private readonly pressedInField = (event: KeyboardEvent): void => {
    if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    else this.pressed(event);
  };

  private readonly openSearch = (): void => {
    this.isSearching = true;
    void this.updateComplete.then(() => this.field?.select());
  };

  private readonly closeSearch = (): void => {
    this.isSearching = false;
    this.search.find("");
    void this.updateComplete.then(() => this.rows.focus());
  };

  private step(by: 1 | -1): void {
    this.reveal(this.search.step(by));
    this.requestUpdate();
  }

  private reveal(line: number | null): void {
    if (line !== null) this.rows.reveal(line - this.controller.output.lines.dropped);
  }

  private readonly copy = async (): Promise<void> => {
    this.isCopied = await copyText(this.controller.output.lines.all.map(visibleText).join("\n"));
    setTimeout(() => (this.isCopied = false), 1500);
  };

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      :host {
        position: relative;
      }
      dragoman-rows {
        flex: 1;
        min-height: 0;
        background: var(--card);
      }
      .tools {
        position: absolute;
        z-index: 1;
        top: -27px;
        right: 0.4rem;
        display: flex;
        align-items: center;
      }
      .tools button {
        padding: 0.05rem 0.4rem;
        color: var(--quiet);
        font-size: 0.78rem;
      }
      .tools.searching {
        position: static;
        flex: none;
        justify-content: flex-end;
        border-bottom: 1px solid var(--line);
      }
      search {
        display: flex;
        align-items: center;
        padding: 0 0.2rem;
        border: 1px solid var(--line);
        border-radius: 0.4rem;
        background: var(--card);
      }
      #find {
        width: 11rem;
        padding: 0.05rem 0.3rem;
        border: 0;
        font-size: 0.82rem;
      }
      #hits {
        min-width: 3.5rem;
        text-align: right;
        color: var(--quiet);
        font-size: 0.75rem;
        white-space: nowrap;
      }
      .printed {
        height: 19px;
        padding: 0 0.8rem;
        border-left: 3px solid transparent;
        font: 0.82rem/19px var(--mono);
        white-space: pre;
      }
      /* A bar besides the colour. */
      .stderr {
        border-left-color: var(--bad);
        background: var(--bad-card);
      }
      .console {
        border-left-color: var(--line);
        color: var(--quiet);
        font-style: italic;
      }
      .found {
        background: var(--raised);
      }
      mark {
        background: var(--marked);
        color: inherit;
        outline: 1px solid var(--warn);
      }
      .found mark {
        background: var(--warn);
        color: var(--card);
      }
      .bold {
        font-weight: 700;
      }
      .ink-red {
        color: var(--bad);
      }
      .ink-green {
        color: var(--good);
      }
      .ink-yellow {
        color: var(--warn);
      }
      .ink-blue {
        color: light-dark(#1f55b5, #7aa7f5);
      }
      .ink-magenta {
        color: light-dark(#8a3a94, #d28bdb);
      }
      .ink-cyan {
        color: var(--accent);
      }
      .ink-black,
      .ink-white {
        color: var(--quiet);
      }
      #to-end {
        position: absolute;
        right: 1.2rem;
        bottom: 0.6rem;
        padding: 0.1rem 0.7rem;
        font-size: 0.82rem;
        box-shadow: 0 2px 8px #0003;
      }
      @media (max-width: 60rem) {
        .tools {
          position: static;
          flex: none;
          justify-content: flex-end;
        }
        #find {
          width: 7rem;
        }
      }
    `,
  ];
}
