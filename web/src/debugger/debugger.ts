/** The debugger: a person and agents in one session, each seeing what the other does. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { shared } from "../app/shared";
import { t } from "../link";
import { timeOfDay } from "../parts/clock";
import "../parts/rows";
import type { Breakpoint, Frame, Session, Thread } from "./answers";
import "./chinese";
import { controls, keyed } from "./controls";
import { Desk } from "./desk";
import { keyOf, type Doing } from "./doings";
import { looks } from "./looks";
import { toldPast, toldStop, type Past, type PastFrame } from "./past";
import { told } from "./source";
import "./source";
import type { Node } from "./values";
import "./values";

const PANES: readonly [string, string][] = [
  ["variables", "Variables"], ["watches", "Watch"], ["stack", "Call stack"], ["output", "Output"],
  ["timeline", "Timeline"], ["breakpoints", "Breakpoints"], ["sessions", "Sessions"],
];

@customElement("dragoman-debugger")
export class DragomanDebugger extends LitElement {
  private readonly desk = new Desk(this);
  @state() private configuration = "";
  /** The name of a file as far as it is typed: a stop meanwhile does not take it away. */
  @state() private typed: string | null = null;
  @state() private scopeNodes: Node[] = [];
  /** What stands below the source where the window is narrow. */
  @state() private pane = "variables";
  private scopesOf: unknown = null;
  private readonly onKey = (event: KeyboardEvent) => {
    if (this.checkVisibility()) keyed(event, this.desk);
  };

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("keydown", this.onKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("keydown", this.onKey);
  }

  /** New nodes only where the scopes are new: whatever is open is then read again. */
  protected override willUpdate(): void {
    if (this.scopesOf === this.desk.scopes) return;
    this.scopesOf = this.desk.scopes;
    this.scopeNodes = this.desk.scopes.map((it) => ({ name: it.name, value: "", type: "", reference: it.variables_reference }));
  }

  override render() {
    return html`
      <div class="bar">
        ${this.starter()} ${controls(this.desk)}
        <p id="standing" role="status">${this.standing()}</p>
      </div>
      ${this.desk.trouble ? this.problem() : nothing} ${this.desk.notice ? this.noticed() : nothing} ${this.desk.story.then ? this.backThen(this.desk.story.then) : nothing}
      <div class="desk">
        ${this.panes()}
        <div class="left">${this.sessions()} ${this.stack()} ${this.breakpoints()}</div>
        <div class="middle">${this.source()} ${this.output()}</div>
        <div class="right">${this.variables()} ${this.watches()} ${this.timeline()}</div>
      </div>
    `;
  }

  private panes() {
    return html`<div class="panes" role="group" aria-label=${t("What to show")}>
      ${PANES.map(([pane, title]) => html`<button class="plain" aria-pressed=${pane === this.pane} @click=${() => (this.pane = pane)}>${t(title)}</button>`)}
    </div>`;
  }

  /** A window that has no room for all shows one of these at a time. */
  private section(name: string, content: unknown) {
    const title = t(PANES.find(([pane]) => pane === name)![1]);
    return html`<section class="${name} ${name === this.pane ? "" : "away"}" aria-label=${title}><h2>${title}</h2>${content}</section>`;
  }

  private starter() {
    return html`${this.desk.folders.length > 1 ? this.folder() : nothing} ${this.configurations()}`;
  }

  private folder() {
    const { folders, workspace } = this.desk;
    return html`<label><span class="unseen">${t("Folder")}</span>
      <select id="folder" title=${workspace} @change=${(event: Event) => this.desk.settleIn((event.target as HTMLSelectElement).value)}>
        ${folders.map((it) => html`<option value=${it} .selected=${it === workspace}>${base(it)}</option>`)}
      </select></label>`;
  }

  private configurations() {
    const { all, problem } = this.desk.offers;
    if (!all) return nothing;
    const wrong = problem ? html`<span id="unreadable" class="bad">${problem}</span>` : nothing;
    if (!all.length) return html`${this.plainStart()} ${wrong}`;
    const name = all.find((it) => it.name === this.configuration)?.name ?? all[0]!.name;
    return html`<form class="starter" @submit=${(event: Event) => (event.preventDefault(), void this.desk.start({ configuration_name: name }))}>
      <label><span class="unseen">${t("Configuration")}</span>
        <select id="configuration" @change=${(event: Event) => (this.configuration = (event.target as HTMLSelectElement).value)}>
          ${all.map((it) => html`<option value=${it.name} .selected=${it.name === name}>${it.name}</option>`)}
        </select></label>
      <button id="start" class="primary" ?disabled=${this.desk.busy}>${t("Start")}</button>
    </form>`;
  }

  /** Without a launch.json: the file that is open, as it is. */
  private plainStart() {
    const program = this.desk.text?.path ?? "";
    if (!program) return html`<span class="quiet">${t("Open a file below to start it.")}</span>`;
    return html`<button id="start-file" class="primary" title=${program} ?disabled=${this.desk.busy} @click=${() => this.desk.start({ program })}>
      ${t("Start {name}", { name: base(program) })}</button>`;
  }

  /** How the session stands, and who brought it there. */
  private standing() {
    const { session, stop, story } = this.desk;
    if (!session) return t("No session.");
    const last = story.doings.find((it) => it.session === session.session_id && it.who);
    const by = last ? html` <span class="quiet">${t("{who} {what}", { who: last.who, what: last.what })}</span>` : nothing;
    const why = stop ? toldStop(stop) : "";
    const end = session.exit_code !== undefined ? t("exit code {code}", { code: session.exit_code }) : (session.signal ?? "");
    const more = why || end;
    return html`<strong class=${stop?.exception ? "bad" : ""}>${t(session.state)}${more ? `: ${more}` : ""}</strong>${by}`;
  }

  /** A stop of before: where it was, and a way through the others. */
  private backThen(then: Past) {
    const { stop, lastStop } = this.desk;
    const go = (to: number, icon: string, name: string) => html`<button
      class="plain" ?disabled=${to < 1 || to > lastStop} aria-label=${name} title=${name} @click=${() => this.desk.lookBack(to)}
    >${icon}</button>`;
    return html`<p class="then" role="status"><span>${t("Stop {number}, as it was: {reason}", { number: then.number, reason: toldPast(then) })}</span>
      <span class="ways">${go(then.number - 1, "◀", t("The stop before"))} ${go(then.number + 1, "▶", t("The stop after"))}
        <button id="now" @click=${() => this.desk.lookAtNow()}>${stop ? t("Back to now") : t("Close")}</button></span></p>`;
  }

  private problem() {
    const { message, hint, wouldRun, untrusted } = this.desk.trouble!;
    const commands = wouldRun ? html`<br />${t("It would run:")}<br /><code class="would-run">${wouldRun}</code>` : nothing;
    return html`<p class="trouble" role="alert"><span>${message} <span class="quiet">${hint}${commands}</span></span>
      ${untrusted ? html`<button id="trust" title=${untrusted} @click=${() => this.desk.trust(untrusted)}>${t("Trust {name} and start", { name: base(untrusted) })}</button>` : nothing}
      <button class="plain" @click=${() => ((this.desk.trouble = null), this.requestUpdate())}>${t("Close")}</button></p>`;
  }

  private noticed() {
    return html`<p id="notice" class="then" role="status"><span>${this.desk.notice}</span>
      <button class="plain" @click=${() => ((this.desk.notice = ""), this.requestUpdate())}>${t("Close")}</button></p>`;
  }

  private sessions() {
    const { sessions } = this.desk;
    const none = html`<p class="none">${t("None.")}</p>`;
    return this.section("sessions", sessions.length ? html`<ul id="sessions">${sessions.map((it) => this.oneSession(it))}</ul>` : none);
  }

  private oneSession(it: Session) {
    const isChosen = it.session_id === this.desk.chosen;
    const begun = this.desk.story.begun(it.session_id);
    return html`<li><button class="plain item ${isChosen ? "chosen" : ""}" aria-pressed=${isChosen} @click=${() => this.desk.choose(it.session_id)}>
        <span class="grow">${it.name || it.session_id}${this.desk.folders.length > 1 ? html` <span class="quiet">${base(it.workspace)}</span>` : nothing}
          <span class="begun"><time>${timeOfDay(begun?.at ?? it.since)}</time> ${begun?.who}</span></span><span class="state ${it.state}">${t(it.state)}</span></button>
      ${isChosen && (it.threads?.length ?? 0) > 1 ? html`<ul class="threads">${it.threads!.map((thread) => this.thread(thread))}</ul>` : nothing}</li>`;
  }

  private thread(it: Thread) {
    const { file_path = "", line_number = 0 } = it;
    return html`<li><button class="plain item" ?disabled=${!file_path} @click=${() => this.desk.open(file_path, line_number)}>
      <span class="grow">${it.name}</span><span class="quiet">${file_path ? `${base(file_path)}:${line_number}` : t(it.state)}</span></button></li>`;
  }

  private stack() {
    const { stop, frame } = this.desk;
    const { then } = this.desk.story;
    const frames = then
      ? then.frames.map((it) => this.pastFrame(it))
      : stop?.call_stack.map((it) => this.oneFrame(it, it.frame_id === frame?.frame_id));
    const left = stop && !then ? stop.total_frames - stop.call_stack.length : 0;
    const more = left > 0 ? html`<p class="none">${t("and {count} more", { count: left })}</p>` : nothing;
    const none = html`<p class="none">${t("The program is not stopped.")}</p>`;
    return this.section("stack", frames ? html`<ul id="stack">${frames}</ul>${more}` : none);
  }

  private oneFrame(it: Frame, isChosen: boolean) {
    return html`<li><button
      class="plain item mono ${isChosen ? "chosen" : ""}" aria-pressed=${isChosen} title=${it.file_path} @click=${() => this.desk.lookAt(it)}
    ><span class="grow">${it.function_name}</span><span class="quiet">${base(it.file_path)}:${it.line_number}</span></button></li>`;
  }

  private pastFrame({ function: name, file_path, line }: PastFrame) {
    const path = file_path ?? "";
    return html`<li><button class="plain item mono" title=${path} ?disabled=${!path} @click=${() => this.desk.open(path, line ?? 0)}>
      <span class="grow">${name}</span><span class="quiet">${path ? `${base(path)}:${line}` : ""}</span></button></li>`;
  }

  private breakpoints() {
    const { all } = this.desk.marks;
    const none = html`<p class="none">${t("Click beside a line number to set one.")}</p>`;
    return this.section("breakpoints", all.length ? html`<ul id="breakpoints">${all.map((it) => this.oneBreakpoint(it))}</ul>` : none);
  }

  private oneBreakpoint(it: Breakpoint) {
    const path = it.source?.path ?? "";
    const name = path ? `${base(path)}:${it.line}` : (it.function_name ?? it.exception ?? it.variable ?? it.kind);
    return html`<li class="pair"><button class="plain item mono" title="${path} ${told(it)}${it.set_by ? `\n${t("set by {who}", { who: it.set_by })}` : ""}" ?disabled=${!path} @click=${() => this.desk.open(path, it.line ?? 0)}>
        <span class="grow">${name}</span><span class="quiet">${it.condition ? `if ${it.condition}` : it.enabled ? "" : t("off")}</span></button>
      <button class="plain forget" aria-label=${t("Remove the breakpoint {name}", { name })} @click=${() => this.desk.marks.remove(it.id)}>×</button></li>`;
  }

  private source() {
    const { text, sought } = this.desk;
    const { then } = this.desk.story;
    const path = text?.path ?? "";
    const at = this.place();
    const isHere = at !== null && text?.is(at.path, this.desk.workspace);
    return html`<section class="source" aria-label=${t("Source")}>
      <form class="file" @submit=${this.openFile}>
        <label><span class="unseen">${t("File")}</span>
          <input id="file" class="mono" placeholder=${t("A file, in the workspace or by its whole path")} .value=${this.typed ?? path} spellcheck="false"
            @focus=${() => (this.typed ??= path)} @blur=${() => this.typed === path && (this.typed = null)}
            @input=${(event: InputEvent) => (this.typed = (event.target as HTMLInputElement).value)} /></label>
        <button>${t("Open")}</button>
      </form>
      <dragoman-source
        .text=${text} .at=${(line: number) => text && this.desk.marks.at(text, line)} .current=${isHere ? at.line : 0} .sought=${sought}
        .isTop=${!then && this.desk.frame?.frame_id === this.desk.stop?.call_stack[0]?.frame_id} .isLive=${this.desk.isLive}
        @toggle-breakpoint=${(event: CustomEvent<number>) => text && this.desk.marks.toggle(text, event.detail)}
      ></dragoman-source>
    </section>`;
  }

  private place(): { path: string; line: number } | null {
    const { frame, story } = this.desk;
    if (story.then) return story.then;
    return frame && { path: frame.file_path, line: frame.line_number };
  }

  private readonly openFile = (event: SubmitEvent) => {
    event.preventDefault();
    const path = (event.target as HTMLFormElement).querySelector("input")!.value.trim();
    this.typed = null;
    if (path) this.desk.open(path, 0);
  };

  private output() {
    const lines = this.desk.printed.lines.all;
    return this.section("output", html`<dragoman-rows
      id="output" stays="end" tabindex="0" aria-label=${t("Output")} data-about=${t("what the program printed")} .rows=${lines} .height=${19}
      .render_row=${(line: string) => html`<div class="printed">${line}</div>`}
    ></dragoman-rows>`);
  }

  private variables() {
    const { then } = this.desk.story;
    return this.section("variables", then ? this.variablesThen(then) : this.variablesNow());
  }

  private variablesNow() {
    return html`${this.scopeNodes.length ? nothing : html`<p class="none">${t("The program is not stopped.")}</p>`}
      <dragoman-values id="variables" opensFirst label=${t("Variables")} .of=${this.desk.standpoint} .roots=${this.scopeNodes} .load=${this.load}></dragoman-values>`;
  }

  private variablesThen({ variables }: Past) {
    return html`${variables.length ? nothing : html`<p class="none">${t("No variables were seen at this stop.")}</p>`}
      <dragoman-values id="variables-then" label=${t("Variables")} .roots=${variables}></dragoman-values>`;
  }

  private readonly load = (reference: number, start: number, count: number) => this.desk.variables(reference, start, count);

  private watches() {
    const { watches, story } = this.desk;
    const roots = story.then ? watches.unread : watches.nodes;
    return this.section("watches", html`<dragoman-values
        id="watches" forgets label=${t("Watch")} .of=${this.desk.standpoint} .roots=${roots} .load=${this.load}
        @forget=${(event: CustomEvent<string>) => watches.remove(event.detail)}
      ></dragoman-values>
      <form @submit=${this.watch}><label><span class="unseen">${t("Expression")}</span>
        <input id="watch" class="mono" placeholder=${t("An expression, then Enter")} spellcheck="false" autocomplete="off" /></label></form>`);
  }

  private readonly watch = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).querySelector("input")!;
    void this.desk.watch(field.value.trim());
    field.value = "";
  };

  private timeline() {
    const { story, chosen } = this.desk;
    const shown = story.doings.filter(({ session }) => !session || session === chosen);
    return this.section("timeline", html`<dragoman-rows
      id="timeline" aria-label=${t("Timeline")} .rows=${shown} .height=${26} .key_of=${keyOf} .render_row=${(it: Doing) => this.oneDoing(it)}
    ></dragoman-rows>`);
  }

  private oneDoing(it: Doing) {
    const where = it.path ? `${base(it.path)}:${it.line}` : "";
    const what = it.who ? t("{who} {what}", { who: it.who, what: it.what }) : it.what;
    const { story, stop } = this.desk;
    const isShown = it.stop > 0 && it.stop === (story.then?.number ?? stop?.stop_number);
    return html`<button class="plain item ${it.stop ? "stop" : ""} ${isShown ? "chosen" : ""}" aria-current=${isShown ? "true" : nothing}
      ?disabled=${!it.path && !it.stop} @click=${() => (it.stop ? this.desk.lookBack(it.stop) : this.desk.open(it.path, it.line))}>
      <time>${timeOfDay(it.at)}</time><span class="grow" title=${what}>${what}</span><span class="quiet mono">${where}</span></button>`;
  }

  static override styles = [shared, looks];
}

function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
