/** The terminals view: terminals with their owners, every command with its exit code, and its output. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { chatQuote } from "../app/chatQuote";
import { sharedStyles } from "../app/styles";
import { proposeQuestion } from "../evidence/address";
import { t } from "../link";
import { dateAndTime, timeOfDay } from "../parts/time";
import "../parts/rows";
import { actorName } from "../parts/actors";
import { commandDuration, exitClass, exitMark, exitText } from "./commandText";
import type { Command, Hit, Terminal } from "./toolResults";
import "./chinese";
import { TerminalsController, type Pane } from "./terminalsController";
import "./question";

const TYPED_FOR_MS = 200;
const LINE_PX = 19;
const ASKED_LINES = 60;
const PANES: readonly [Pane, string][] = [
  ["output", "Output"],
  ["screen", "Screen"],
  ["ask", "Ask"],
];

@customElement("dragoman-terminals")
export class DragomanTerminals extends LitElement {
  private readonly controller = new TerminalsController(this);
  @state() private canDraw = false;
  private readonly narrow = matchMedia("(max-width: 60rem)");
  private readonly resized = () => this.requestUpdate();
  private typing = 0;
  private reads = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.narrow.addEventListener("change", this.resized);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.narrow.removeEventListener("change", this.resized);
  }

  /** The emulator is large, and is loaded when a screen is first shown. */
  override willUpdate(): void {
    if (this.controller.pane === "screen" && this.controller.selected && !this.canDraw)
      void import("./screen").then(() => (this.canDraw = true));
  }

  override updated(): void {
    const output = this.renderRoot.querySelector("#output");
    if (!output || this.controller.reads === this.reads) return;
    this.reads = this.controller.reads;
    const top = Math.max(0, (this.controller.foundLine - 4) * LINE_PX);
    void (output as LitElement).updateComplete.then(() => (output.scrollTop = top)); // as tall as it is now
  }

  override render() {
    return html`
      <nav aria-label=${t("Terminals")}>${this.terminals()}</nav>
      <section class="list ${this.controller.isReading ? "away" : ""}" aria-label=${t("Commands")}
        >${this.search()} ${this.commands()} ${this.hits()}</section
      >
      ${this.panes()}
      ${this.controller.notice ? html`<p id="notice" class="none" role="status">${this.controller.notice}</p>` : nothing}
      <section class="read ${this.controller.isReading ? "" : "away"}">${this.pane[this.controller.pane]()}</section>
    `;
  }

  private terminals() {
    const { terminals } = this.controller;
    if (!terminals.length)
      return html`<p class="none">${t("No terminals recorded yet. Run `dragoman shell` in a terminal.")}</p>`;
    return html`<ul id="terminals"
      ><li>${this.choice("", html`<span class="grow">${t("All terminals")}</span>`)}</li>
      ${terminals.map((it) => html`<li>${this.choice(it.terminal, this.oneTerminal(it))}</li>`)}</ul
    >`;
  }

  private choice(terminal: string, content: unknown) {
    const isChosen = terminal === this.controller.selected;
    return html`<button
      class="plain item ${isChosen ? "chosen" : ""}"
      aria-pressed=${isChosen}
      title=${terminal}
      @click=${() => this.controller.select(terminal)}
    >
      ${content}</button
    >`;
  }

  private oneTerminal(it: Terminal) {
    return html`<span class="grow"
        ><span class="mono">${baseName(it.shell) || it.terminal}</span> <span class="quiet owner">${ownerName(it)}</span
        ><br />
        <span class="quiet small">${it.running ? `$ ${it.running.command}` : it.cwd}</span></span
      >
      <span class="state ${it.state}">${t(it.state)}</span>`;
  }

  private search() {
    return html`<form class="bar" role="search" @submit=${(event: Event) => event.preventDefault()}>
      <label class="grow"
        ><span class="unseen">${t("Find")}</span>
        <input
          id="find"
          type="search"
          placeholder=${t("Search commands and output")}
          .value=${this.controller.query}
          @input=${this.handleInput}
      /></label>
      <label class="check"
        ><input id="failed" type="checkbox" .checked=${this.controller.onlyFailed} @change=${this.onlyFailed} />
        ${t("Only failed")}</label
      >
      <label class="check"
        ><input
          id="everywhere"
          type="checkbox"
          .checked=${this.controller.allWorkspaces}
          @change=${this.allWorkspaces}
        />
        ${t("All workspaces")}</label
      >
      <span class="quiet small" role="status">${this.count()}</span>
      ${this.controller.error ? html`<p class="bad" role="alert">${this.controller.error}</p>` : nothing}
    </form>`;
  }

  /** The results of both searches, in one answer. */
  private count(): string {
    const { listed: commands, nextBefore: next, hits } = this.controller;
    const count = `${commands.length}${next ? "+" : ""}`;
    return hits.length
      ? t("commands: {count}, lines of output: {lines}", { count, lines: hits.length })
      : t("commands: {count}", { count });
  }

  private readonly handleInput = (event: InputEvent) => {
    this.controller.query = (event.target as HTMLInputElement).value;
    clearTimeout(this.typing);
    this.typing = window.setTimeout(() => void this.controller.search(), TYPED_FOR_MS);
  };

  private readonly onlyFailed = (event: Event) => {
    this.controller.onlyFailed = (event.target as HTMLInputElement).checked;
    void this.controller.search();
  };

  private readonly allWorkspaces = (event: Event) => {
    this.controller.allWorkspaces = (event.target as HTMLInputElement).checked;
    void this.controller.search();
  };

  private commands() {
    const { listed: commands, nextBefore: next, hits } = this.controller;
    if (!commands.length && hits.length) return nothing;
    if (!commands.length) return html`<p class="none">${t("No matching commands.")}</p>`;
    return html`<dragoman-rows
        id="commands"
        .rows=${commands}
        .height=${44}
        .renderRow=${(it: Command) => this.oneCommand(it)}
      ></dragoman-rows>
      ${next ? html`<button class="plain" id="older" @click=${() => this.controller.readOlder()}>${t("Older commands")}</button>` : nothing}`;
  }

  private oneCommand(it: Command) {
    const isChosen = it.command_id === this.controller.command?.command_id;
    return html`<button
      class="plain command ${isChosen ? "chosen" : ""}"
      aria-pressed=${isChosen}
      title=${it.command}
      @click=${() => this.read(it.command_id)}
    >
      <span class="end ${exitClass(it)}" title=${exitText(it)} aria-label=${exitText(it)}>${exitMark(it)}</span>
      <span class="grow"
        ><span class="mono">${it.command}</span><br /><span class="quiet small"
          >${this.renderActor(it)}${it.cwd}</span
        ></span
      >
      <span class="when quiet small">${commandDuration(it)}<br />${timeOfDay(it.started_at)}</span></button
    >`;
  }

  private renderActor({ terminal }: Command) {
    const by = this.controller.terminal(terminal);
    return by?.owner === "agent" ? html`<b>${ownerName(by)}</b> · ` : nothing;
  }

  private hits() {
    const { hits } = this.controller;
    if (!hits.length) return nothing;
    return html`<h2>${t("In output")}</h2
      ><ul id="hits"
        >${hits.map((it) => this.oneHit(it))}</ul
      >`;
  }

  private oneHit(it: Hit) {
    const title = `${it.line}\n$ ${it.command}`;
    return html`<li
      ><button
        class="plain item mono"
        ?disabled=${!it.command_id}
        title=${title}
        @click=${() => this.read(it.command_id, it.line)}
      >
        <span class="grow">${it.line}<br /><span class="quiet by">$ ${it.command}</span></span></button
      ></li
    >`;
  }

  private read(command: string, line?: string): void {
    void this.controller.read(command, line);
  }

  private panes() {
    const { pane: shows } = this.controller;
    const isNarrow = this.narrow.matches;
    const show = (pane: Pane) => ((this.controller.isReading = true), this.controller.showPane(pane));
    return html`<div class="bar panes" role="group" aria-label=${t("What to show")}>
      ${isNarrow ? html`<button id="shows-commands" aria-pressed=${!this.controller.isReading} @click=${() => ((this.controller.isReading = false), this.requestUpdate())}>${t("Commands")}</button>` : nothing}
      ${PANES.map(([pane, title]) => html`<button id="shows-${pane}" aria-pressed=${shows === pane && (this.controller.isReading || !isNarrow)} @click=${() => show(pane)}>${t(title)}</button>`)}
    </div>`;
  }

  private readonly pane: Record<Pane, () => unknown> = {
    output: () => this.output(),
    screen: () => this.screen(),
    ask: () =>
      html`<dragoman-question
        class="fills"
        .terminal=${this.controller.selected}
        .everywhere=${this.controller.searchesEverywhere}
      ></dragoman-question>`,
  };

  private output() {
    const { command, lines, nextOffset: left } = this.controller;
    if (!command) return html`<p class="empty">${t("Select a command to read its output.")}</p>`;
    const about = t("the output of {command}", { command: `\`${command.command}\`` });
    return html`<div class="head"
        >${command.exit_code ? html`<button id="explain" @click=${() => proposeQuestion({ question: "explain_failure", kind: "command", subject: command.command, cwd: command.cwd })}>${t("Explain this failure")}</button>` : nothing}${lines.length ? html`<button id="ask-about" @click=${() => chatQuote.ask(lines.slice(-ASKED_LINES).join("\n"), about)}>${t("Ask about this")}</button>` : nothing}<code
          >${command.command}</code
        >
        <p class="quiet small"
          ><span class=${exitClass(command)}>${exitText(command)}</span> · ${commandDuration(command)} ·
          ${dateAndTime(command.started_at)} · ${command.cwd}
          ${command.verified ? nothing : html`· <span class="bad" title=${t("A program may have forged this by printing markers.")}>${t("unverified")}</span>`}</p
        >
        ${command.lost_bytes ? html`<p class="bad small">${t("{count} bytes of output were lost.", { count: command.lost_bytes })}</p>` : nothing}</div
      >
      ${lines.length ? this.printed(lines, about) : html`<p class="none">${t("No readable output.")}</p>`}
      ${left === null ? nothing : html`<button class="plain" @click=${() => this.controller.readMore()}>${t("Show more")}</button>`}`;
  }

  private screen() {
    const { selected: chosen } = this.controller;
    if (!chosen) return html`<p class="empty">${t("Select a terminal to see its screen.")}</p>`;
    return this.canDraw ? html`<dragoman-screen class="fills" .terminal=${chosen}></dragoman-screen>` : nothing;
  }

  private printed(lines: string[], about: string) {
    const draw = (line: string, index: number) =>
      html`<div class="shown ${index === this.controller.foundLine ? "found" : ""}">${line}</div>`;
    return html`<dragoman-rows
      id="output"
      class="printed"
      tabindex="0"
      data-about=${about}
      .rows=${lines}
      .height=${LINE_PX}
      .renderRow=${draw}
    ></dragoman-rows>`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: grid;
        grid-template: auto auto minmax(0, 1fr) / minmax(10rem, 13rem) minmax(19rem, 2fr) minmax(0, 3fr);
        min-height: 0;
      }
      nav,
      .list {
        grid-row: 1 / 4;
      }
      nav {
        overflow-y: auto;
        border-right: 1px solid var(--line);
      }
      .panes {
        grid-area: 1 / 3;
      }
      #notice {
        grid-area: 2 / 3;
      }
      .read {
        grid-area: 3 / 3;
      }
      section {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
      }
      .list {
        border-right: 1px solid var(--line);
      }
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 0.4rem 0.8rem;
        align-items: center;
        padding: 0.5rem 0.8rem;
        border-bottom: 1px solid var(--line);
      }
      .bar p {
        margin: 0;
        width: 100%;
      }
      .bar input[type="search"] {
        width: 100%;
      }
      .bar [aria-pressed="true"] {
        border-color: var(--accent);
        color: var(--accent);
      }
      .bar .grow {
        flex: 1 0 100%;
      }
      .check {
        display: flex;
        gap: 0.35rem;
        align-items: center;
        font-size: 0.9rem;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      #hits {
        max-height: 30%;
        overflow-y: auto;
      }
      h2 {
        margin: 0;
        padding: 0.3rem 0.8rem;
        font-size: 0.78rem;
        color: var(--quiet);
        border-top: 1px solid var(--line);
      }
      .none {
        margin: 0;
        padding: 0.8rem;
        color: var(--quiet);
      }
      .small {
        font-size: 0.8rem;
      }
      .grow {
        flex: 1;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .item,
      .command {
        display: flex;
        align-items: center;
        gap: 0.7rem;
        width: 100%;
        padding: 0.25rem 0.8rem;
        border: 0;
        border-radius: 0;
        text-align: left;
        line-height: 1.3;
      }
      .item.mono {
        font-size: 0.82rem;
      }
      .command {
        height: 44px;
        border-bottom: 1px solid var(--line);
        padding-top: 0;
        padding-bottom: 0;
      }
      .item:hover,
      .command:hover,
      .chosen {
        background: var(--raised);
      }
      .command:hover:not(:disabled) {
        border-color: var(--line);
      }
      .chosen {
        box-shadow: inset 3px 0 var(--accent);
      }
      .state {
        font-size: 0.78rem;
        color: var(--quiet);
      }
      .state.live {
        color: var(--good);
      }
      .end {
        flex: none;
        min-width: 1.9rem;
        text-align: center;
        font: 0.85rem var(--mono);
      }
      .good {
        color: var(--good);
      }
      .running {
        color: var(--warn);
      }
      .when {
        flex: none;
        text-align: right;
      }
      #commands {
        flex: 1;
        min-height: 0;
        background: var(--card);
      }
      .head {
        padding: 0.5rem 0.8rem;
        border-bottom: 1px solid var(--line);
      }
      .head button {
        float: right;
        margin: 0 0 0.3rem 0.8rem;
        font-size: 0.85rem;
        padding: 0.1rem 0.7rem;
      }
      .head code {
        font: 0.9rem/1.4 var(--mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        display: block;
        max-height: 6rem;
        overflow-y: auto;
      }
      .head p {
        margin: 0.2rem 0 0;
        overflow-wrap: anywhere;
      }
      .printed {
        flex: 1;
        min-height: 0;
        background: var(--card);
      }
      .shown {
        height: 19px;
        padding: 0 0.8rem;
        font: 0.82rem/19px var(--mono);
        white-space: pre;
      }
      .shown.found {
        background: var(--marked);
      }
      .fills {
        flex: 1;
        min-height: 0;
      }
      @media (max-width: 60rem) {
        :host {
          display: flex;
          flex-direction: column;
        }
        nav {
          flex: none;
          overflow: auto hidden;
          border: 0;
          border-bottom: 1px solid var(--line);
        }
        #terminals {
          display: flex;
        }
        #terminals li {
          flex: none;
          max-width: 14rem;
        }
        #terminals .item {
          height: 100%;
        }
        #terminals .chosen {
          box-shadow: inset 0 -3px var(--accent);
        }
        .panes {
          flex: none;
        }
        .panes button {
          padding: 0.15rem 0.6rem;
        }
        .list,
        .read {
          order: 1;
          flex: 1;
          border: 0;
        }
        .away {
          display: none;
        }
      }
    `,
  ];
}

/** The page itself runs nothing: what bears its name was run by its chat. */
function ownerName({ owner, agent }: Terminal): string {
  if (owner === "person") return actorName("terminal");
  const name = actorName(agent);
  return name === actorName("page") ? actorName("chat") : name || t("agent");
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
