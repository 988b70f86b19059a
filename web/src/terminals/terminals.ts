/** Terminals: who has which, every command with how it ended, and what it printed. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { asked } from "../app/asking";
import { shared } from "../app/shared";
import { t } from "../link";
import { dayAndTime, timeOfDay } from "../parts/clock";
import "../parts/rows";
import { who } from "../parts/who";
import type { Command, Hit, Terminal } from "./answers";
import "./chinese";
import { Desk, type Shows } from "./desk";
import "./question";

/** Exit codes of a command that Ctrl-Z or a background read stopped: it has not ended. */
const SUSPENDED: ReadonlySet<number> = new Set([147, 148, 149, 150]);
const TYPED_FOR_MS = 200;
const LINE_PX = 19;
const ASKED_LINES = 60;
const PANES: readonly [Shows, string][] = [["output", "Output"], ["screen", "Screen"], ["ask", "Ask"]];

@customElement("dragoman-terminals")
export class DragomanTerminals extends LitElement {
  private readonly desk = new Desk(this);
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
    if (this.desk.shows === "screen" && this.desk.chosen && !this.canDraw) void import("./screen").then(() => (this.canDraw = true));
  }

  override updated(): void {
    const output = this.renderRoot.querySelector("#output");
    if (!output || this.desk.reads === this.reads) return;
    this.reads = this.desk.reads;
    const top = Math.max(0, (this.desk.found - 4) * LINE_PX);
    void (output as LitElement).updateComplete.then(() => (output.scrollTop = top)); // as tall as it is now
  }

  override render() {
    return html`
      <nav aria-label=${t("Terminals")}>${this.terminals()}</nav>
      <section class="list ${this.desk.isReading ? "away" : ""}" aria-label=${t("Commands")}>${this.search()} ${this.commands()} ${this.hits()}</section>
      ${this.panes()} ${this.desk.notice ? html`<p id="notice" class="none" role="status">${this.desk.notice}</p>` : nothing}
      <section class="read ${this.desk.isReading ? "" : "away"}">${this.pane[this.desk.shows]()}</section>
    `;
  }

  private terminals() {
    const { terminals } = this.desk;
    if (!terminals.length) return html`<p class="none">${t("No terminal is recorded yet. Run `dragoman shell` in one.")}</p>`;
    return html`<ul id="terminals"><li>${this.choice("", html`<span class="grow">${t("All terminals")}</span>`)}</li>
      ${terminals.map((it) => html`<li>${this.choice(it.terminal, this.oneTerminal(it))}</li>`)}</ul>`;
  }

  private choice(terminal: string, content: unknown) {
    const isChosen = terminal === this.desk.chosen;
    return html`<button class="plain item ${isChosen ? "chosen" : ""}" aria-pressed=${isChosen} title=${terminal} @click=${() => this.desk.choose(terminal)}>
      ${content}</button>`;
  }

  private oneTerminal(it: Terminal) {
    return html`<span class="grow"><span class="mono">${base(it.shell) || it.terminal}</span> <span class="quiet owner">${whose(it)}</span><br />
        <span class="quiet small">${it.running ? `$ ${it.running.command}` : it.cwd}</span></span>
      <span class="state ${it.state}">${t(it.state)}</span>`;
  }

  private search() {
    return html`<form class="bar" role="search" @submit=${(event: Event) => event.preventDefault()}>
      <label class="grow"><span class="unseen">${t("Find")}</span>
        <input id="find" type="search" placeholder=${t("Find in commands and their output")} .value=${this.desk.words} @input=${this.typed} /></label>
      <label class="check"><input id="failed" type="checkbox" .checked=${this.desk.failed} @change=${this.onlyFailed} /> ${t("Only failed")}</label>
      <label class="check"><input id="everywhere" type="checkbox" .checked=${this.desk.everywhere} @change=${this.allWorkspaces} /> ${t("All workspaces")}</label>
      <span class="quiet small" role="status">${this.count()}</span>
      ${this.desk.trouble ? html`<p class="bad" role="alert">${this.desk.trouble}</p>` : nothing}
    </form>`;
  }

  /** Of both that were looked through, in one answer. */
  private count(): string {
    const { listed: commands, next, hits } = this.desk;
    const count = `${commands.length}${next ? "+" : ""}`;
    return hits.length ? t("commands: {count}, lines of output: {lines}", { count, lines: hits.length }) : t("commands: {count}", { count });
  }

  private readonly typed = (event: InputEvent) => {
    this.desk.words = (event.target as HTMLInputElement).value;
    clearTimeout(this.typing);
    this.typing = window.setTimeout(() => void this.desk.search(), TYPED_FOR_MS);
  };

  private readonly onlyFailed = (event: Event) => {
    this.desk.failed = (event.target as HTMLInputElement).checked;
    void this.desk.search();
  };

  private readonly allWorkspaces = (event: Event) => {
    this.desk.everywhere = (event.target as HTMLInputElement).checked;
    void this.desk.search();
  };

  private commands() {
    const { listed: commands, next, hits } = this.desk;
    if (!commands.length && hits.length) return nothing;
    if (!commands.length) return html`<p class="none">${t("Nothing recorded matches.")}</p>`;
    return html`<dragoman-rows id="commands" .rows=${commands} .height=${44} .render_row=${(it: Command) => this.oneCommand(it)}></dragoman-rows>
      ${next ? html`<button class="plain" id="older" @click=${() => this.desk.older()}>${t("Older ones")}</button>` : nothing}`;
  }

  private oneCommand(it: Command) {
    const isChosen = it.command_id === this.desk.command?.command_id;
    return html`<button class="plain command ${isChosen ? "chosen" : ""}" aria-pressed=${isChosen} title=${it.command} @click=${() => this.read(it.command_id)}>
      <span class="end ${endOf(it)}" title=${endWords(it)} aria-label=${endWords(it)}>${endMark(it)}</span>
      <span class="grow"><span class="mono">${it.command}</span><br /><span class="quiet small">${this.doer(it)}${it.cwd}</span></span>
      <span class="when quiet small">${took(it)}<br />${timeOfDay(it.started_at)}</span></button>`;
  }

  private doer({ terminal }: Command) {
    const by = this.desk.named(terminal);
    return by?.owner === "agent" ? html`<b>${whose(by)}</b> · ` : nothing;
  }

  private hits() {
    const { hits } = this.desk;
    if (!hits.length) return nothing;
    return html`<h2>${t("In output")}</h2><ul id="hits">${hits.map((it) => this.oneHit(it))}</ul>`;
  }

  private oneHit(it: Hit) {
    return html`<li><button class="plain item mono" ?disabled=${!it.command_id} title="${it.line}\n$ ${it.command}" @click=${() => this.read(it.command_id, it.line)}>
      <span class="grow">${it.line}<br /><span class="quiet by">$ ${it.command}</span></span></button></li>`;
  }

  private read(command: string, line?: string): void {
    void this.desk.read(command, line);
  }

  private panes() {
    const { shows } = this.desk;
    const isNarrow = this.narrow.matches;
    const show = (pane: Shows) => ((this.desk.isReading = true), this.desk.show(pane));
    return html`<div class="bar panes" role="group" aria-label=${t("What to show")}>
      ${isNarrow ? html`<button id="shows-commands" aria-pressed=${!this.desk.isReading} @click=${() => ((this.desk.isReading = false), this.requestUpdate())}>${t("Commands")}</button>` : nothing}
      ${PANES.map(([pane, title]) => html`<button id="shows-${pane}" aria-pressed=${shows === pane && (this.desk.isReading || !isNarrow)} @click=${() => show(pane)}>${t(title)}</button>`)}
    </div>`;
  }

  private readonly pane: Record<Shows, () => unknown> = {
    output: () => this.output(),
    screen: () => this.screen(),
    ask: () => html`<dragoman-question class="fills" .terminal=${this.desk.chosen} .everywhere=${this.desk.isWide}></dragoman-question>`,
  };

  private output() {
    const { command, lines, left } = this.desk;
    if (!command) return html`<p class="empty">${t("Choose a command to read what it printed.")}</p>`;
    const about = t("the output of {command}", { command: `\`${command.command}\`` });
    return html`<div class="head">${lines.length ? html`<button id="ask-about" @click=${() => asked.about(lines.slice(-ASKED_LINES).join("\n"), about)}>${t("Ask about this")}</button>` : nothing}<code>${command.command}</code>
        <p class="quiet small"><span class=${endOf(command)}>${endWords(command)}</span> · ${took(command)} · ${dayAndTime(command.started_at)} · ${command.cwd}
          ${command.verified ? nothing : html`· <span class="bad" title=${t("A program may have made this up by printing marks.")}>${t("unverified")}</span>`}</p>
        ${command.lost_bytes ? html`<p class="bad small">${t("{count} bytes of its output were lost.", { count: command.lost_bytes })}</p>` : nothing}</div>
      ${lines.length ? this.printed(lines, about) : html`<p class="none">${t("It printed nothing that can be read.")}</p>`}
      ${left === null ? nothing : html`<button class="plain" @click=${() => this.desk.readOn()}>${t("More of it")}</button>`}`;
  }

  private screen() {
    const { chosen } = this.desk;
    if (!chosen) return html`<p class="empty">${t("Choose a terminal to see its screen.")}</p>`;
    return this.canDraw ? html`<dragoman-screen class="fills" .terminal=${chosen}></dragoman-screen>` : nothing;
  }

  private printed(lines: string[], about: string) {
    const draw = (line: string, index: number) => html`<div class="shown ${index === this.desk.found ? "found" : ""}">${line}</div>`;
    return html`<dragoman-rows id="output" class="printed" tabindex="0" data-about=${about} .rows=${lines} .height=${LINE_PX} .render_row=${draw}></dragoman-rows>`;
  }

  static override styles = [
    shared,
    css`
      :host { display: grid; grid-template: auto auto minmax(0, 1fr) / minmax(10rem, 13rem) minmax(19rem, 2fr) minmax(0, 3fr); min-height: 0; }
      nav, .list { grid-row: 1 / 4; }
      nav { overflow-y: auto; border-right: 1px solid var(--line); }
      .panes { grid-area: 1 / 3; }
      #notice { grid-area: 2 / 3; }
      .read { grid-area: 3 / 3; }
      section { display: flex; flex-direction: column; min-width: 0; min-height: 0; }
      .list { border-right: 1px solid var(--line); }
      .bar { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center; padding: .5rem .8rem; border-bottom: 1px solid var(--line); }
      .bar p { margin: 0; width: 100%; }
      .bar input[type="search"] { width: 100%; }
      .bar [aria-pressed="true"] { border-color: var(--accent); color: var(--accent); }
      .bar .grow { flex: 1 0 100%; }
      .check { display: flex; gap: .35rem; align-items: center; font-size: .9rem; }
      ul { list-style: none; margin: 0; padding: 0; }
      #hits { max-height: 30%; overflow-y: auto; }
      h2 { margin: 0; padding: .3rem .8rem; font-size: .78rem; color: var(--quiet); border-top: 1px solid var(--line); }
      .none { margin: 0; padding: .8rem; color: var(--quiet); }
      .small { font-size: .8rem; }
      .grow { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .item, .command {
        display: flex; align-items: center; gap: .7rem; width: 100%; padding: .25rem .8rem; border: 0; border-radius: 0; text-align: left; line-height: 1.3;
      }
      .item.mono { font-size: .82rem; }
      .command { height: 44px; border-bottom: 1px solid var(--line); padding-top: 0; padding-bottom: 0; }
      .item:hover, .command:hover, .chosen { background: var(--raised); }
      .command:hover:not(:disabled) { border-color: var(--line); }
      .chosen { box-shadow: inset 3px 0 var(--accent); }
      .state { font-size: .78rem; color: var(--quiet); }
      .state.live { color: var(--good); }
      .end { flex: none; min-width: 1.9rem; text-align: center; font: .85rem var(--mono); }
      .good { color: var(--good); }
      .running { color: var(--warn); }
      .when { flex: none; text-align: right; }
      #commands { flex: 1; min-height: 0; background: var(--card); }
      .head { padding: .5rem .8rem; border-bottom: 1px solid var(--line); }
      #ask-about { float: right; margin: 0 0 .3rem .8rem; font-size: .85rem; padding: .1rem .7rem; }
      .head code { font: .9rem/1.4 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; display: block; max-height: 6rem; overflow-y: auto; }
      .head p { margin: .2rem 0 0; overflow-wrap: anywhere; }
      .printed { flex: 1; min-height: 0; background: var(--card); }
      .shown { height: 19px; padding: 0 .8rem; font: .82rem/19px var(--mono); white-space: pre; }
      .shown.found { background: var(--marked); }
      .fills { flex: 1; min-height: 0; }
      @media (max-width: 60rem) {
        :host { display: flex; flex-direction: column; }
        nav { flex: none; overflow: auto hidden; border: 0; border-bottom: 1px solid var(--line); }
        #terminals { display: flex; } #terminals li { flex: none; max-width: 14rem; } #terminals .item { height: 100%; }
        #terminals .chosen { box-shadow: inset 0 -3px var(--accent); }
        .panes { flex: none; } .panes button { padding: .15rem .6rem; }
        .list, .read { order: 1; flex: 1; border: 0; }
        .away { display: none; }
      }
    `,
  ];
}

/** The page itself runs nothing: what bears its name was run by its chat. */
function whose({ owner, agent }: Terminal): string {
  if (owner === "person") return who("terminal");
  const name = who(agent);
  return name === who("page") ? who("chat") : name || t("agent");
}

function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function endOf(it: Command): string {
  return it.duration_s === null ? "running" : it.exit_code === 0 ? "good" : it.exit_code === null || SUSPENDED.has(it.exit_code) ? "quiet" : "bad";
}

function endMark(it: Command): string {
  return it.duration_s === null ? "…" : it.exit_code === 0 ? "✓" : String(it.exit_code ?? "?");
}

function endWords(it: Command): string {
  if (it.duration_s === null) return t("running");
  return it.exit_code === null ? t("exit code unknown") : t("exit code {code}", { code: it.exit_code });
}

function took({ duration_s }: Command): string {
  if (duration_s === null) return "";
  if (duration_s < 10) return `${duration_s.toFixed(duration_s < 0.1 ? 3 : 1)} s`;
  const whole = Math.round(duration_s);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
