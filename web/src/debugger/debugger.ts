/** The debugger: a person and agents in one session, each seeing what the other does. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import { timeOfDay } from "../parts/time";
import "../parts/rows";
import type { Breakpoint, Frame, Session, Thread } from "./toolResults";
import "./chinese";
import "./countdown";
import { controls, handleControlKey } from "./controls";
import { DebugController } from "./debugController";
import { entryKey, type TimelineEntry } from "../replay/timelineEntries";
import { debuggerStyles } from "./styles";
import { pastStopReason, stopReason, type PastStop, type PastFrame } from "../replay/pastStops";
import { breakpointTitle } from "./source";
import "./source";
import type { VariableNode } from "./variableTree";
import "./variableTree";

const PANES: readonly [string, string][] = [
  ["variables", "Variables"],
  ["watches", "Watch"],
  ["stack", "Call stack"],
  ["output", "Output"],
  ["timeline", "Timeline"],
  ["breakpoints", "Breakpoints"],
  ["sessions", "Sessions"],
];

@customElement("dragoman-debugger")
export class DragomanDebugger extends LitElement {
  private readonly controller = new DebugController(this);
  @state() private configuration = "";
  /** The part of a file name that was typed: a stop in the meantime does not remove it. */
  @state() private typed: string | null = null;
  @state() private scopeNodes: VariableNode[] = [];
  /** The part that a narrow window shows below the source. */
  @state() private pane = "variables";
  private scopesOf: unknown = null;
  private readonly onKey = (event: KeyboardEvent) => {
    if (this.checkVisibility()) handleControlKey(event, this.controller);
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
    if (this.scopesOf === this.controller.scopes) return;
    this.scopesOf = this.controller.scopes;
    this.scopeNodes = this.controller.scopes.map((it) => ({
      name: it.name,
      value: "",
      type: "",
      reference: it.variables_reference,
    }));
  }

  override render() {
    return html`
      <div class="bar">
        ${this.starter()} ${controls(this.controller)}
        <dragoman-countdown
          .endsAt=${this.controller.session?.resumesAt ?? null}
          .hold=${() => void this.controller.hold()}
        ></dragoman-countdown>
        <p id="standing" role="status">${this.renderState()}</p>
      </div>
      ${this.controller.error ? this.problem() : nothing} ${this.controller.notice ? this.noticed() : nothing}
      ${this.controller.history.pastStop ? this.renderPastStop(this.controller.history.pastStop) : nothing}
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
    return html`<section class="${name} ${name === this.pane ? "" : "away"}" aria-label=${title}
      ><h2>${title}</h2>${content}</section
    >`;
  }

  private starter() {
    return html`${this.controller.folders.length > 1 ? this.folder() : nothing} ${this.configurations()}`;
  }

  private folder() {
    const { folders, workspace } = this.controller;
    return html`<label
      ><span class="unseen">${t("Folder")}</span>
      <select
        id="folder"
        title=${workspace}
        @change=${(event: Event) => this.controller.selectFolder((event.target as HTMLSelectElement).value)}
      >
        ${folders.map((it) => html`<option value=${it} .selected=${it === workspace}>${baseName(it)}</option>`)}
      </select></label
    >`;
  }

  private configurations() {
    const { all, problem } = this.controller.configurations;
    if (!all) return nothing;
    const wrong = problem ? html`<span id="unreadable" class="bad">${problem}</span>` : nothing;
    if (!all.length) return html`${this.plainStart()} ${wrong}`;
    const name = all.find((it) => it.name === this.configuration)?.name ?? all[0]!.name;
    return html`<form
      class="starter"
      @submit=${(event: Event) => (event.preventDefault(), void this.controller.start({ configuration_name: name }))}
    >
      <label
        ><span class="unseen">${t("Configuration")}</span>
        <select
          id="configuration"
          @change=${(event: Event) => (this.configuration = (event.target as HTMLSelectElement).value)}
        >
          ${all.map((it) => html`<option value=${it.name} .selected=${it.name === name}>${it.name}</option>`)}
        </select></label
      >
      <button id="start" class="primary" ?disabled=${this.controller.busy}>${t("Start")}</button>
    </form>`;
  }

  /** Without a launch.json: the file that is open, as it is. */
  private plainStart() {
    const program = this.controller.text?.path ?? "";
    if (!program) return html`<span class="quiet">${t("Open a file below to start it.")}</span>`;
    return html`<button
      id="start-file"
      class="primary"
      title=${program}
      ?disabled=${this.controller.busy}
      @click=${() => this.controller.start({ program })}
    >
      ${t("Start {name}", { name: baseName(program) })}</button
    >`;
  }

  /** The state of the session, and who caused it. */
  private renderState() {
    const { session, stop, history: story } = this.controller;
    if (!session) return t("No session.");
    const last = story.entries.find((it) => it.session === session.session_id && it.actor);
    const by = last
      ? html` <span class="quiet">${t("{who} {what}", { who: last.actor, what: last.text })}</span>`
      : nothing;
    const why = stop ? stopReason(stop) : "";
    const end =
      session.exit_code !== undefined ? t("exit code {code}", { code: session.exit_code }) : (session.signal ?? "");
    const more = why || end;
    return html`<strong class=${stop?.exception ? "bad" : ""}>${t(session.state)}${more ? `: ${more}` : ""}</strong
      >${by}`;
  }

  /** A past stop: its location, and buttons for the others. */
  private renderPastStop(then: PastStop) {
    const { stop, lastStop } = this.controller;
    const go = (to: number, icon: string, name: string) =>
      html`<button
        class="plain"
        ?disabled=${to < 1 || to > lastStop}
        aria-label=${name}
        title=${name}
        @click=${() => this.controller.showPastStop(to)}
        >${icon}</button
      >`;
    return html`<p class="then" role="status"
      ><span>${t("Stop {number} (past): {reason}", { number: then.number, reason: pastStopReason(then) })}</span>
      <span class="ways"
        >${go(then.number - 1, "◀", t("Previous stop"))} ${go(then.number + 1, "▶", t("Next stop"))}
        <button id="now" @click=${() => this.controller.showPresent()}
          >${stop ? t("Back to the present") : t("Close")}</button
        ></span
      ></p
    >`;
  }

  private problem() {
    const { message, hint, wouldRun, untrusted } = this.controller.error!;
    const commands = wouldRun
      ? html`<br />${t("It would run:")}<br /><code class="would-run">${wouldRun}</code>`
      : nothing;
    return html`<p class="trouble" role="alert"
      ><span>${message} <span class="quiet">${hint}${commands}</span></span>
      ${untrusted ? html`<button id="trust" title=${untrusted} @click=${() => this.controller.trust(untrusted)}>${t("Trust {name} and start", { name: baseName(untrusted) })}</button>` : nothing}
      <button class="plain" @click=${() => ((this.controller.error = null), this.requestUpdate())}
        >${t("Close")}</button
      ></p
    >`;
  }

  private noticed() {
    return html`<p id="notice" class="then" role="status"
      ><span>${this.controller.notice}</span>
      <button class="plain" @click=${() => ((this.controller.notice = ""), this.requestUpdate())}
        >${t("Close")}</button
      ></p
    >`;
  }

  private sessions() {
    const { sessions } = this.controller;
    const none = html`<p class="none">${t("None.")}</p>`;
    return this.section(
      "sessions",
      sessions.length
        ? html`<ul id="sessions"
            >${sessions.map((it) => this.renderSession(it))}</ul
          >`
        : none,
    );
  }

  private renderSession(it: Session) {
    const isChosen = it.session_id === this.controller.selected;
    const begun = this.controller.history.startOf(it.session_id);
    return html`<li
      ><button
        class="plain item ${isChosen ? "chosen" : ""}"
        aria-pressed=${isChosen}
        @click=${() => this.controller.select(it.session_id)}
      >
        <span class="grow"
          >${it.name || it.session_id}${this.controller.folders.length > 1 ? html` <span class="quiet">${baseName(it.workspace)}</span>` : nothing}
          <span class="begun"><time>${timeOfDay(begun?.at ?? it.since)}</time> ${begun?.actor}</span></span
        ><span class="state ${it.state}">${t(it.state)}</span></button
      >
      ${
        isChosen && (it.threads?.length ?? 0) > 1
          ? html`<ul class="threads"
              >${it.threads!.map((thread) => this.thread(thread))}</ul
            >`
          : nothing
      }</li
    >`;
  }

  private thread(it: Thread) {
    const { file_path = "", line_number = 0 } = it;
    return html`<li
      ><button class="plain item" ?disabled=${!file_path} @click=${() => this.controller.open(file_path, line_number)}>
        <span class="grow">${it.name}</span
        ><span class="quiet">${file_path ? `${baseName(file_path)}:${line_number}` : t(it.state)}</span></button
      ></li
    >`;
  }

  private stack() {
    const { stop, frame } = this.controller;
    const { pastStop: then } = this.controller.history;
    const frames = then
      ? then.frames.map((it) => this.pastFrame(it))
      : stop?.call_stack.map((it) => this.renderFrame(it, it.frame_id === frame?.frame_id));
    const left = stop && !then ? stop.total_frames - stop.call_stack.length : 0;
    const more = left > 0 ? html`<p class="none">${t("and {count} more", { count: left })}</p>` : nothing;
    const none = html`<p class="none">${t("The program is not stopped.")}</p>`;
    return this.section(
      "stack",
      frames
        ? html`<ul id="stack"
              >${frames}</ul
            >${more}`
        : none,
    );
  }

  private renderFrame(it: Frame, isChosen: boolean) {
    return html`<li
      ><button
        class="plain item mono ${isChosen ? "chosen" : ""}"
        aria-pressed=${isChosen}
        title=${it.file_path}
        @click=${() => this.controller.selectFrame(it)}
        ><span class="grow">${it.function_name}</span
        ><span class="quiet">${baseName(it.file_path)}:${it.line_number}</span></button
      ></li
    >`;
  }

  private pastFrame({ function: name, file_path, line }: PastFrame) {
    const path = file_path ?? "";
    return html`<li
      ><button
        class="plain item mono"
        title=${path}
        ?disabled=${!path}
        @click=${() => this.controller.open(path, line ?? 0)}
      >
        <span class="grow">${name}</span><span class="quiet">${path ? `${baseName(path)}:${line}` : ""}</span></button
      ></li
    >`;
  }

  private breakpoints() {
    const { all } = this.controller.breakpoints;
    const none = html`<p class="none">${t("Click beside a line number to set one.")}</p>`;
    return this.section(
      "breakpoints",
      all.length
        ? html`<ul id="breakpoints"
            >${all.map((it) => this.renderBreakpoint(it))}</ul
          >`
        : none,
    );
  }

  private renderBreakpoint(it: Breakpoint) {
    const path = it.source?.path ?? "";
    const name = path ? `${baseName(path)}:${it.line}` : (it.function_name ?? it.exception ?? it.variable ?? it.kind);
    return html`<li class="pair"
      ><button
        class="plain item mono"
        title="${path} ${breakpointTitle(it)}${it.set_by ? `\n${t("set by {who}", { who: it.set_by })}` : ""}"
        ?disabled=${!path}
        @click=${() => this.controller.open(path, it.line ?? 0)}
      >
        <span class="grow">${name}</span
        ><span class="quiet">${it.condition ? `if ${it.condition}` : it.enabled ? "" : t("off")}</span></button
      >
      <button
        class="plain forget"
        aria-label=${t("Remove the breakpoint {name}", { name })}
        @click=${() => this.controller.breakpoints.remove(it.id)}
        >×</button
      ></li
    >`;
  }

  private source() {
    const { text, revealed } = this.controller;
    const { pastStop: then } = this.controller.history;
    const path = text?.path ?? "";
    const at = this.place();
    const isHere = at !== null && text?.is(at.path, this.controller.workspace);
    return html`<section class="source" aria-label=${t("Source")}>
      <form class="file" @submit=${this.openFile}>
        <label
          ><span class="unseen">${t("File")}</span>
          <input
            id="file"
            class="mono"
            placeholder=${t("A file in the workspace, or a full path")}
            .value=${this.typed ?? path}
            spellcheck="false"
            @focus=${() => (this.typed ??= path)}
            @blur=${() => this.typed === path && (this.typed = null)}
            @input=${(event: InputEvent) => (this.typed = (event.target as HTMLInputElement).value)}
        /></label>
        <button>${t("Open")}</button>
      </form>
      <dragoman-source
        .text=${text}
        .at=${(line: number) => text && this.controller.breakpoints.at(text, line)}
        .current=${isHere ? at.line : 0}
        .revealed=${revealed}
        .isTop=${!then && this.controller.frame?.frame_id === this.controller.stop?.call_stack[0]?.frame_id}
        .isLive=${this.controller.isLive}
        @toggle-breakpoint=${(event: CustomEvent<number>) => text && this.controller.breakpoints.toggle(text, event.detail)}
      ></dragoman-source>
    </section>`;
  }

  private place(): { path: string; line: number } | null {
    const { frame, history: story } = this.controller;
    if (story.pastStop) return story.pastStop;
    return frame && { path: frame.file_path, line: frame.line_number };
  }

  private readonly openFile = (event: SubmitEvent) => {
    event.preventDefault();
    const path = (event.target as HTMLFormElement).querySelector("input")!.value.trim();
    this.typed = null;
    if (path) this.controller.open(path, 0);
  };

  private output() {
    const lines = this.controller.output.lines.all;
    return this.section(
      "output",
      html`<dragoman-rows
        id="output"
        anchor="end"
        tabindex="0"
        aria-label=${t("Output")}
        data-about=${t("what the program printed")}
        .rows=${lines}
        .height=${19}
        .renderRow=${(line: string) => html`<div class="printed">${line}</div>`}
      ></dragoman-rows>`,
    );
  }

  private variables() {
    const { pastStop: then } = this.controller.history;
    return this.section("variables", then ? this.pastVariables(then) : this.presentVariables());
  }

  private presentVariables() {
    return html`${this.scopeNodes.length ? nothing : html`<p class="none">${t("The program is not stopped.")}</p>`}
      <dragoman-values
        id="variables"
        expandsFirst
        label=${t("Variables")}
        .context=${this.controller.valuesContext}
        .roots=${this.scopeNodes}
        .load=${this.load}
      ></dragoman-values>`;
  }

  private pastVariables({ variables }: PastStop) {
    return html`${variables.length ? nothing : html`<p class="none">${t("No variables were read at this stop.")}</p>`}
      <dragoman-values id="variables-then" label=${t("Variables")} .roots=${variables}></dragoman-values>`;
  }

  private readonly load = (reference: number, start: number, count: number) =>
    this.controller.variables(reference, start, count);

  private watches() {
    const { watches, history: story } = this.controller;
    const roots = story.pastStop ? watches.emptyNodes : watches.nodes;
    return this.section(
      "watches",
      html`<dragoman-values
          id="watches"
          removable
          label=${t("Watch")}
          .context=${this.controller.valuesContext}
          .roots=${roots}
          .load=${this.load}
          @forget=${(event: CustomEvent<string>) => watches.remove(event.detail)}
        ></dragoman-values>
        <form @submit=${this.watch}
          ><label
            ><span class="unseen">${t("Expression")}</span>
            <input
              id="watch"
              class="mono"
              placeholder=${t("An expression, then Enter")}
              spellcheck="false"
              autocomplete="off" /></label
        ></form>`,
    );
  }

  private readonly watch = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).querySelector("input")!;
    void this.controller.watch(field.value.trim());
    field.value = "";
  };

  private timeline() {
    const { history: story, selected: chosen } = this.controller;
    const shown = story.entries.filter(({ session }) => !session || session === chosen);
    return this.section(
      "timeline",
      html`<dragoman-rows
        id="timeline"
        aria-label=${t("Timeline")}
        .rows=${shown}
        .height=${26}
        .keyOf=${entryKey}
        .renderRow=${(it: TimelineEntry) => this.renderEntry(it)}
      ></dragoman-rows>`,
    );
  }

  private renderEntry(it: TimelineEntry) {
    const where = it.path ? `${baseName(it.path)}:${it.line}` : "";
    const what = it.actor ? t("{who} {what}", { who: it.actor, what: it.text }) : it.text;
    const { history: story, stop } = this.controller;
    const isShown = it.stop > 0 && it.stop === (story.pastStop?.number ?? stop?.stop_number);
    return html`<button
      class="plain item ${it.stop ? "stop" : ""} ${isShown ? "chosen" : ""}"
      aria-current=${isShown ? "true" : nothing}
      ?disabled=${!it.path && !it.stop}
      @click=${() => (it.stop ? this.controller.showPastStop(it.stop) : this.controller.open(it.path, it.line))}
    >
      <time>${timeOfDay(it.at)}</time><span class="grow" title=${what}>${what}</span
      ><span class="quiet mono">${where}</span></button
    >`;
  }

  static override styles = [sharedStyles, debuggerStyles];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
