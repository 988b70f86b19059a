/** The debugger: a person and agents in one session, each seeing what the other does. */
import { LitElement, html } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "./chinese";
import "./countdown";
import "./console/consolePane";
import { controls, handleControlKey } from "./controls";
import { DebugController } from "./debugController";
import "./keyHelp";
import type { KeyHelp } from "./keyHelp";
import "./layout/splitter";
import { notices, standing } from "./notices";
import { debuggerStyles } from "./styles";
import "./panes/breakpointPane";
import "./output/outputPane";
import "./panes/sessionTabs";
import "./panes/sourcePane";
import "./panes/stackPane";
import "./panes/startBar";
import "./panes/timelinePane";
import "./variables/variablePane";
import "./panes/waitPane";
import "./variables/watchPane";

const TITLES = {
  variables: "Variables",
  watches: "Watch",
  stack: "Call stack",
  output: "Output",
  console: "Console",
  waits: "Where it waits",
  timeline: "Timeline",
  breakpoints: "Breakpoints",
};
type Pane = keyof typeof TITLES;
const DOCKED: readonly Pane[] = ["output", "console", "waits"];
/** The sizes of those that can be changed, as they are at first. */
const SIZES = { left: 250, right: 330, dock: 220, breakpoints: 150, watches: 130, timeline: 200 };
type Sized = keyof typeof SIZES;

@customElement("dragoman-debugger")
export class DragomanDebugger extends LitElement {
  private readonly controller = new DebugController(this);
  /** The part that a narrow window shows below the source. */
  @state() private pane: Pane = "variables";
  /** The part that a wide window shows there. */
  @state() private docked: Pane = "output";
  @query("dragoman-key-help") private keyHelp!: KeyHelp;
  private report: unknown = null;

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("keydown", this.onKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("keydown", this.onKey);
  }

  private readonly onKey = (event: KeyboardEvent) => {
    if (!this.checkVisibility()) return;
    if (event.key === "?" && !isWriting(event)) this.keyHelp.open();
    else handleControlKey(event, this.controller);
  };

  /** What was asked for is shown when it has arrived, and not once more after the person turned to something else. */
  protected override willUpdate(): void {
    const { waits } = this.controller.inspection.threads;
    if (waits && waits !== this.report) this.pane = this.docked = "waits";
    else if (!waits && this.docked === "waits") this.docked = "output";
    this.report = waits;
  }

  override render() {
    const { controller } = this;
    const { sessions, commands } = controller;
    return html`
      <div class="bar">
        <dragoman-start-bar .controller=${controller}></dragoman-start-bar> ${controls(controller)}
        <dragoman-countdown
          .endsAt=${sessions.current?.resumesAt ?? null}
          .hold=${() => void commands.hold()}
        ></dragoman-countdown>
        <button
          id="keys"
          class="plain"
          aria-haspopup="dialog"
          aria-keyshortcuts="?"
          aria-label=${t("Keys of the debugger")}
          title="${t("Keys of the debugger")} (?)"
          @click=${() => this.keyHelp.open()}
          >?</button
        >
      </div>
      <dragoman-session-tabs .controller=${controller}
        ><p id="standing" role="status">${standing(controller)}</p></dragoman-session-tabs
      >
      ${notices(controller)}
      <div class="desk" .style=${this.sizes()}
        ><div class="columns">${this.panes()} ${this.left()} ${this.middle()} ${this.right()}</div>
        ${this.splitter("timeline", "Size of the timeline")}
        ${this.section("timeline", html`<dragoman-timeline-pane .controller=${controller}></dragoman-timeline-pane>`)}</div
      >
      <dragoman-key-help></dragoman-key-help>
    `;
  }

  private left() {
    const { controller } = this;
    return html`<div class="left"
        >${this.section("stack", html`<dragoman-stack-pane .controller=${controller}></dragoman-stack-pane>`)}
        ${this.splitter("breakpoints", "Size of the breakpoints")}
        ${this.section(
          "breakpoints",
          html`<dragoman-breakpoint-pane .controller=${controller}></dragoman-breakpoint-pane>`,
        )}</div
      >
      ${this.splitter("left", "Width of the call stack")}`;
  }

  private middle() {
    const { controller } = this;
    return html`<div class="middle"
      ><section class="source" aria-label=${t("Source")}
        ><dragoman-source-pane .controller=${controller}></dragoman-source-pane
      ></section>
      ${this.splitter("dock", "Height of the output")}
      <div class="dock"
        >${this.dockTabs()}
        ${this.docking("output", html`<dragoman-output-pane .controller=${controller}></dragoman-output-pane>`)}
        ${this.docking("console", html`<dragoman-console-pane .controller=${controller}></dragoman-console-pane>`)}
        ${this.docking("waits", html`<dragoman-wait-pane .controller=${controller}></dragoman-wait-pane>`)}</div
      ></div
    >`;
  }

  private right() {
    const { controller } = this;
    return html`${this.splitter("right", "Width of the variables")}<div class="right"
        >${this.section("variables", html`<dragoman-variable-pane .controller=${controller}></dragoman-variable-pane>`)}
        ${this.splitter("watches", "Size of the watched expressions")}
        ${this.section("watches", html`<dragoman-watch-pane .controller=${controller}></dragoman-watch-pane>`)}</div
      >`;
  }

  private get shownPanes(): Pane[] {
    const hasWaits = this.controller.inspection.threads.waits !== null;
    return (Object.keys(TITLES) as Pane[]).filter((it) => it !== "waits" || hasWaits);
  }

  private panes() {
    return html`<div class="panes" role="group" aria-label=${t("What to show")}>
      ${this.shownPanes.map((it) => html`<button class="plain" aria-pressed=${it === this.pane} @click=${() => this.show(it)}>${t(TITLES[it])}</button>`)}
    </div>`;
  }

  private dockTabs() {
    return html`<div class="tabs" role="tablist" aria-label=${t("What to show below")}>
      ${DOCKED.filter((it) => this.shownPanes.includes(it)).map(
        (it) =>
          html`<button
            class="plain"
            role="tab"
            id="dock-${it}"
            aria-selected=${it === this.docked}
            aria-controls="pane-${it}"
            @click=${() => this.show(it)}
            >${t(TITLES[it])}</button
          >`,
      )}
    </div>`;
  }

  private show(pane: Pane): void {
    this.pane = pane;
    if (DOCKED.includes(pane)) this.docked = pane;
  }

  /** A window that has no room for all shows one of these at a time. */
  private section(name: Pane, content: unknown) {
    const title = t(TITLES[name]);
    const { layout } = this.controller;
    const isFolded = layout.isFolded(name);
    return html`<section
      class="${name} ${name === this.pane ? "" : "away"} ${isFolded ? "folded" : ""}"
      aria-label=${title}
      ><h2
        ><button class="plain" aria-expanded=${!isFolded} @click=${() => layout.fold(name)}
          ><span class="mark" aria-hidden="true">${isFolded ? "▸" : "▾"}</span>${title}</button
        ></h2
      ><div class="body">${content}</div></section
    >`;
  }

  private docking(name: Pane, content: unknown) {
    return html`<section
      id="pane-${name}"
      class="${name} ${name === this.pane ? "" : "away"} ${name === this.docked ? "" : "behind"}"
      aria-label=${t(TITLES[name])}
      ><div class="body">${content}</div></section
    >`;
  }

  private splitter(name: Sized, label: string) {
    const isBetweenColumns = name === "left" || name === "right";
    return html`<dragoman-splitter
      class="beside-${name} ${this.controller.layout.isFolded(name) ? "idle" : ""}"
      label=${t(label)}
      between=${isBetweenColumns ? "columns" : "rows"}
      side=${name === "left" ? "before" : "after"}
      .standard=${SIZES[name]}
      .least=${isBetweenColumns ? 150 : 70}
      @resize-pane=${(event: CustomEvent<number>) => this.controller.layout.resize(name, event.detail)}
    ></dragoman-splitter>`;
  }

  private sizes(): string {
    const { layout } = this.controller;
    const set = (Object.keys(SIZES) as Sized[]).filter((it) => layout.size(it) !== undefined);
    return set.map((it) => `--${it}:${layout.size(it)}px`).join(";");
  }

  static override styles = [sharedStyles, debuggerStyles];
}

/** Whether the key writes something where it was pressed. */
function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
