/** The debugger: a person and agents in one session, each seeing what the other does. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "./chinese";
import "./countdown";
import { controls, handleControlKey } from "./controls";
import { DebugController } from "./debugController";
import { debuggerStyles } from "./styles";
import { pastStopReason, stopReason, type PastStop } from "../replay/pastStops";
import "./panes/breakpointPane";
import "./panes/outputPane";
import { baseName } from "./panes/pane";
import "./panes/sessionPane";
import "./panes/sourcePane";
import "./panes/stackPane";
import "./panes/startBar";
import "./panes/timelinePane";
import "./panes/variablePane";
import "./panes/watchPane";

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
  /** The part that a narrow window shows below the source. */
  @state() private pane = "variables";
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

  override render() {
    const { controller } = this;
    const { commands, history, sessions } = controller;
    return html`
      <div class="bar">
        <dragoman-start-bar .controller=${controller}></dragoman-start-bar> ${controls(controller)}
        <dragoman-countdown
          .endsAt=${sessions.current?.resumesAt ?? null}
          .hold=${() => void commands.hold()}
        ></dragoman-countdown>
        <p id="standing" role="status">${this.renderState()}</p>
      </div>
      ${commands.error ? this.problem() : nothing} ${commands.notice ? this.noticed() : nothing}
      ${history.pastStop ? this.renderPastStop(history.pastStop) : nothing}
      <div class="desk">
        ${this.panes()}
        <div class="left"
          >${this.section("sessions", html`<dragoman-session-pane .controller=${controller}></dragoman-session-pane>`)}
          ${this.section("stack", html`<dragoman-stack-pane .controller=${controller}></dragoman-stack-pane>`)}
          ${this.section(
            "breakpoints",
            html`<dragoman-breakpoint-pane .controller=${controller}></dragoman-breakpoint-pane>`,
          )}</div
        >
        <div class="middle"
          ><section class="source" aria-label=${t("Source")}
            ><dragoman-source-pane .controller=${controller}></dragoman-source-pane
          ></section>
          ${this.section("output", html`<dragoman-output-pane .controller=${controller}></dragoman-output-pane>`)}</div
        >
        <div class="right"
          >${this.section("variables", html`<dragoman-variable-pane .controller=${controller}></dragoman-variable-pane>`)}
          ${this.section("watches", html`<dragoman-watch-pane .controller=${controller}></dragoman-watch-pane>`)}
          ${this.section("timeline", html`<dragoman-timeline-pane .controller=${controller}></dragoman-timeline-pane>`)}</div
        >
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

  /** The state of the session, and who caused it. */
  private renderState() {
    const { current: session } = this.controller.sessions;
    const { stop } = this.controller.inspection;
    if (!session) return t("No session.");
    const last = this.controller.history.entries.find((it) => it.session === session.session_id && it.actor);
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
    const { lastStop, inspection } = this.controller;
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
          >${inspection.stop ? t("Back to the present") : t("Close")}</button
        ></span
      ></p
    >`;
  }

  private problem() {
    const { commands } = this.controller;
    const { message, hint, wouldRun, untrusted } = commands.error!;
    const code = wouldRun ? html`<br />${t("It would run:")}<br /><code class="would-run">${wouldRun}</code>` : nothing;
    return html`<p class="trouble" role="alert"
      ><span>${message} <span class="quiet">${hint}${code}</span></span>
      ${untrusted ? html`<button id="trust" title=${untrusted} @click=${() => commands.trust(untrusted)}>${t("Trust {name} and start", { name: baseName(untrusted) })}</button>` : nothing}
      <button class="plain" @click=${() => ((commands.error = null), this.requestUpdate())}>${t("Close")}</button></p
    >`;
  }

  private noticed() {
    const { commands } = this.controller;
    return html`<p id="notice" class="then" role="status"
      ><span>${commands.notice}</span>
      <button class="plain" @click=${() => ((commands.notice = ""), this.requestUpdate())}>${t("Close")}</button></p
    >`;
  }

  static override styles = [sharedStyles, debuggerStyles];
}
