/** The page frame: the title, the state of the connection, and the views as tabs. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { html as anyTag, unsafeStatic } from "lit/static-html.js";
import { Unreachable, RequestError, feed, gateway, t, type FeedState } from "../link";
import { canvasNotifications } from "../canvas/notifications";
import { approvals } from "../chat/approvals";
import { chatQuote } from "./chatQuote";
import { agentPause, type Stopped } from "./agentPause";
import { router } from "./router";
import { demo } from "../start/demo";
import { isFirstVisit } from "../start/startState";
import "../start/demoStrip";
import "./questionBanner";
import "./stopAll";
import { frameStyles } from "./frameStyles";
import { sharedStyles } from "./styles";
import { withInlineCode } from "./inlineCode";
import { icon } from "../parts/icons";
import { VIEWS, viewOf, type View } from "./views";

const WORDS: Record<FeedState, string> = {
  outside: "Run `dragoman page` in a terminal for a login link.",
  connecting: "connecting…",
  connected: "connected",
  silent: "Dragoman does not respond: it is busy or suspended. The page continues as soon as it responds.",
  foreign:
    "Dragoman was restarted, or another program answers at this address. Run `dragoman page` in a terminal for a new link.",
  lost: "Dragoman is not running or does not respond. Run `dragoman up` in a terminal, then `dragoman page` for a new link.",
};

/** Code is loaded only from our daemon, never from another program that listens at its address. */
const MAY_LOAD = new Set<FeedState>(["connecting", "connected"]);

@customElement("dragoman-app")
export class DragomanApp extends LitElement {
  @state() private connection: FeedState = feed.state;
  @state() private refused: Error | null = null;
  @state() private shown = viewOf(router.view);
  @state() private loaded = new Set<string>();
  /** Views that could not be loaded: they are the daemon's to give. */
  @state() private missing = new Set<string>();
  @state() private error = "";
  @state() private wasConnected = false;
  @state() private newest = "";

  private readonly subscriptions: readonly [EventTarget, string, (event: Event) => void][] = [
    [feed, "state", () => this.connectionChanged()],
    [approvals, "change", () => this.requestUpdate()],
    [canvasNotifications, "change", () => this.notificationsChanged()],
    [chatQuote, "quoted", () => void this.show(viewOf("chat"))],
    [demo, "change", () => this.requestUpdate()],
    [demo, "stopped", () => router.navigate("debugger", demo.session)],
    [agentPause, "change", () => this.requestUpdate()],
    [window, "login-refused", (event) => (this.refused = (event as CustomEvent<Error>).detail)],
    [window, "error", (event) => this.reportError((event as ErrorEvent).message)],
    [window, "unhandledrejection", (event) => this.reportRejection((event as PromiseRejectionEvent).reason)],
    [router, "change", () => this.followRoute()],
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    for (const [source, kind, listener] of this.subscriptions) source.addEventListener(kind, listener);
    router.start();
    agentPause.start();
    this.followRoute();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const [source, kind, listener] of this.subscriptions) source.removeEventListener(kind, listener);
  }

  /** A lost connection is not an error of the page, and has its own indicator. */
  private reportRejection(reason: unknown): void {
    if (!(reason instanceof Unreachable)) this.report(String((reason as Error | undefined)?.message ?? reason));
  }

  /** That a size changed once more while it was reported is no fault: it is reported in the next frame. */
  private reportError(message: string): void {
    if (!message.startsWith("ResizeObserver loop")) this.report(message);
  }

  private connectionChanged(): void {
    this.connection = feed.state;
    if (feed.state === "connected") {
      if (!this.wasConnected) void this.begin();
      this.refused = null;
      gateway.start();
      if (this.missing.has(this.shown.id)) void this.load(this.shown);
    }
    if (feed.state === "outside") this.wasConnected = false;
  }

  /** Without an address, a first visit begins at the start, and every other one where a person writes. */
  private async begin(): Promise<void> {
    if (!location.hash && (await isFirstVisit())) router.begin("start");
    if (feed.state !== "connected") return;
    this.wasConnected = true;
    this.followRoute();
    await this.updateComplete;
    if (document.activeElement === document.body) this.enter();
  }

  /** Announced once, also to screen readers; the number stays as long as a question is open. */
  private notificationsChanged(): void {
    this.newest = canvasNotifications.newestText;
    this.requestUpdate();
  }

  override updated(): void {
    const waiting = approvals.waiting.length + canvasNotifications.count;
    document.title = waiting ? `(${waiting}) Dragoman` : "Dragoman";
  }

  private report(message: string): void {
    this.error = t("Something went wrong on this page: {message}", { message });
  }

  /** The address names the view, so that a reload, Back and Forward lead to it. */
  private followRoute(): void {
    void this.show(viewOf(router.view), { moves: false });
  }

  private async show(view: View, { moves = true } = {}): Promise<void> {
    this.shown = view;
    if (moves) router.push(view.id, ...router.parts(view.id));
    canvasNotifications.isWatched = view.id === "canvas";
    void this.updateComplete.then(() => this.tab(view)?.scrollIntoView({ block: "nearest", inline: "nearest" }));
    if (!this.loaded.has(view.id)) await this.load(view);
  }

  private async load(view: View): Promise<void> {
    let isThere = MAY_LOAD.has(feed.state);
    if (isThere) await view.load().catch(() => (isThere = false));
    if (isThere) this.loaded = new Set([...this.loaded, view.id]);
    this.missing = new Set([...this.missing].filter((id) => id !== view.id).concat(isThere ? [] : view.id));
  }

  /** To where a view is written into, if it says where; on a touch screen that would bring up the keyboard. */
  private enter(): void {
    if (matchMedia("(pointer: coarse)").matches) return;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(this.shown.tag)?.focus());
  }

  private tab(view: View): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(`#tab-${view.id}`);
  }

  private handleTabKey(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = VIEWS.indexOf(this.shown);
    const next = { Home: 0, End: VIEWS.length - 1 }[event.key] ?? (step ? index + step : -1);
    const view = VIEWS[(next + VIEWS.length) % VIEWS.length];
    if ((step === undefined && next < 0) || !view) return;
    event.preventDefault();
    void this.show(view);
    this.tab(view)?.focus();
  }

  override render() {
    const isGood = this.connection === "connected" && !this.refused;
    return html`
      <header>
        <h1><img src="/icon.svg" alt="" width="26" height="26" /><span>Dragoman</span></h1>
        ${this.wasConnected ? this.tabs() : nothing}
        <p id="connection" role="status" class=${isGood ? "good" : this.connection === "connecting" ? "" : "bad"}>
          ${withInlineCode(this.refused ? refusalText(this.refused) : t(WORDS[this.connection]))}
        </p>
        ${this.wasConnected ? html`<dragoman-stop-all></dragoman-stop-all>` : nothing}
      </header>
      <p id="news" class="unseen" role="status">${this.newest}</p>
      ${agentPause.isPaused ? this.pauseBanner() : nothing} ${this.error ? this.problem() : nothing}
      ${this.wasConnected ? html`<dragoman-questions .view=${this.shown.id}></dragoman-questions>` : nothing}
      ${demo.state !== "none" && this.shown.id !== "start" ? html`<dragoman-demo-strip></dragoman-demo-strip>` : nothing}
      ${this.wasConnected ? html`<main id="inside">${VIEWS.map((view) => this.panel(view))}</main><dragoman-asking></dragoman-asking>` : this.renderLogin()}
    `;
  }

  private pauseBanner() {
    return html`<p class="paused" role="alert">
      <span>${[t("Agents are paused."), ...stoppedTexts(agentPause.stopped)].join(" ")}</span>
      <button @click=${() => agentPause.lift()}>${t("Resume agents")}</button>
    </p>`;
  }

  private readonly waitingCount: Record<string, () => number> = {
    chat: () => approvals.waiting.length,
    canvas: () => canvasNotifications.count,
  };

  private tabs() {
    return html`<div class="tabs" role="tablist" aria-label=${t("Views")} @keydown=${this.handleTabKey}>
      ${VIEWS.map((view) => {
        const isShown = view === this.shown;
        const waiting = this.waitingCount[view.id]?.() ?? 0;
        return html`<button
          class="plain"
          role="tab"
          id="tab-${view.id}"
          aria-controls="panel-${view.id}"
          aria-selected=${isShown}
          tabindex=${isShown ? 0 : -1}
          title=${t(view.title)}
          @click=${() => this.show(view).then(() => this.enter())}
          >${icon(view.icon, 18)}<span class="label">${t(view.title)}</span
          >${waiting ? html` <span class="asks">${waiting}</span>` : nothing}</button
        >`;
      })}
    </div>`;
  }

  private panel(view: View) {
    const tag = unsafeStatic(view.tag); // from our own table
    return html`<section
      id="panel-${view.id}"
      role="tabpanel"
      data-view=${t(view.title)}
      aria-labelledby="tab-${view.id}"
      ?hidden=${view !== this.shown}
      >${this.loaded.has(view.id) ? anyTag`<${tag}></${tag}>` : this.missing.has(view.id) ? this.unloaded() : nothing}</section
    >`;
  }

  /** A daemon that is there and has no such file is of another version than this page. */
  private unloaded() {
    if (this.connection !== "connected")
      return html`<p class="empty">${t("Cannot load this view while Dragoman does not respond.")}</p>`;
    return html`<p class="empty"
      >${t("This page belongs to a different version of Dragoman than the one running.")}
      <button @click=${() => location.reload()}>${t("Reload")}</button></p
    >`;
  }

  private problem() {
    return html`<p class="trouble" role="alert">
      ${this.error}
      <button class="plain" @click=${() => (this.error = "")}>${t("Close")}</button>
    </p>`;
  }

  private renderLogin() {
    if (this.connection === "connecting") return nothing;
    return html`<p class="empty">${t("This is the workbench of a Dragoman daemon. It opens with a login link.")}</p>`;
  }

  static override styles = [sharedStyles, frameStyles];
}

function stoppedTexts(stopped: Stopped | null): string[] {
  if (!stopped) return [];
  const unconfirmed = stopped.sessions.filter(({ confirmed }) => confirmed === false);
  return [
    t("Ended: {calls} calls, {chats} chat runs, {terminals} terminals, {programs} programs; {left} run on.", {
      calls: stopped.calls,
      chats: stopped.chats,
      terminals: stopped.terminals,
      programs: stopped.sessions.filter(({ program }) => program === "terminated").length,
      left: stopped.sessions.filter(({ program }) => program === "detached").length,
    }),
    ...unconfirmed.map(({ title }) => t("{name} did not end in time: check it yourself.", { name: title })),
  ];
}

/** The daemon's own words where it said some. */
function refusalText(error: Error): string {
  return error instanceof RequestError ? `${error.message} ${error.hint}` : error.message;
}
