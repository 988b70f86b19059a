/** The chat: conversations, what is said as it is said, what agents ask before they do it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { chatQuote } from "../app/chatQuote";
import { router } from "../app/router";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { Unreachable, gateway, t } from "../link";
import { approvals } from "./approvals";
import { drafts } from "./drafts";
import { message } from "./message";
import "./prompt";
import type { DragomanPrompt } from "./prompt";
import { Conversation, canonicalKey, type ChatMessage } from "./conversation";

/** The gateway that the daemon is a client of. */
interface GatewayStatus {
  state: string;
  address: string;
  reason: string;
  hint: string;
}

interface Session {
  key: string;
  label?: string;
  displayName?: string;
  updatedAt: number;
  hasActiveRun: boolean;
}

const STATES: Record<string, string> = {
  connecting: "connecting…",
  connected: "connected",
  degraded: "connected with fewer permissions than requested",
  pairing_required: "waiting to be paired",
  paused: "temporarily paused",
  error: "failed",
};
const MAIN = "agent:main:main";
const VIEW = "chat";
/** Where a tab stores the conversation that it shows. */
const KEPT = "chat";
const NAMED_BY = 48;
/** Begun, and nothing said in it yet. */
const NAMELESS = /^chat-[0-9a-f]{16}$/;

@customElement("dragoman-chat")
export class DragomanChat extends LitElement {
  @state() private sessions: Session[] = [];
  @state() private conversation = new Conversation(sessionStorage.getItem(KEPT) ?? MAIN);
  @state() private connected = gateway.connected;
  @state() private requestError = "";
  @state() private error = "";
  @state() private gatewayStatus: GatewayStatus | null = null;
  private supportsLabels = true;
  /** The conversation that the address leads to, until it was followed. */
  private routeTarget = "";
  @query(".said") private list!: HTMLElement;
  @query("dragoman-prompt") private prompt!: DragomanPrompt;
  private isAtEnd = true;
  private unsubscribe = () => {};

  override connectedCallback(): void {
    super.connectedCallback();
    gateway.addEventListener("state", this.connectionChanged);
    gateway.addEventListener("gateway-error", this.showError);
    this.unsubscribe = gateway.subscribe(({ event, payload }) => {
      if (event === "sessions.changed") void this.attempt(() => this.readSessions());
      if (event === "dragoman.gateway") void this.attempt(() => this.readGatewayStatus());
      if (event === "dragoman.opened") this.open(String(payload.key)); // an editor's window is about its folder
    });
    approvals.addEventListener("change", this.redraw);
    chatQuote.addEventListener("quoted", this.insertQuote);
    router.addEventListener("navigated", this.routeChanged);
    if (router.parts(VIEW).length) this.routeChanged();
    this.open(this.conversation.key);
    this.connectionChanged();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    gateway.removeEventListener("state", this.connectionChanged);
    gateway.removeEventListener("gateway-error", this.showError);
    this.unsubscribe();
    approvals.removeEventListener("change", this.redraw);
    chatQuote.removeEventListener("quoted", this.insertQuote);
    router.removeEventListener("navigated", this.routeChanged);
    this.conversation.end();
  }

  override firstUpdated(): void {
    this.insertQuote();
  }

  override focus(): void {
    void this.updateComplete.then(() => this.prompt.focus());
  }

  /** What an editor could not do for the chat, without a request from here. */
  private readonly showError = (event: Event): void => {
    this.error = (event as CustomEvent<string>).detail;
  };

  private readonly redraw = (): void => this.requestUpdate();

  /** Text that was selected in another view, to be quoted here. */
  private readonly insertQuote = (): void => {
    const text = this.hasUpdated ? chatQuote.take() : "";
    if (text) this.prompt.put(text);
  };

  private readonly connectionChanged = (): void => {
    this.connected = gateway.connected;
    if (this.connected) void this.attempt(() => this.readAll());
  };

  private async readAll(): Promise<void> {
    await gateway.request("sessions.subscribe");
    await Promise.all([this.readSessions(), this.conversation.read({ afterLoss: true }), this.readGatewayStatus()]);
    await this.showRouteTarget();
  }

  /** One that names no conversation is that of the main one. */
  private readonly routeChanged = (): void => {
    if (router.view !== VIEW) return;
    this.routeTarget = canonicalKey(router.parts(VIEW)[0] ?? "main");
    if (gateway.connected) void this.attempt(() => this.showRouteTarget());
  };

  /** At the conversation that the address names, if there is one. */
  private async showRouteTarget(): Promise<void> {
    const { routeTarget: led } = this;
    if (!led) return;
    const key = led === canonicalKey(this.conversation.key) ? this.conversation.key : await this.find(led);
    if (led !== this.routeTarget) return; // the person went on meanwhile
    this.routeTarget = "";
    if (key && key !== this.conversation.key) return this.open(key);
    router.replace(VIEW, routePart(this.conversation.key));
    if (!key) this.error = t("The conversation in this address no longer exists.");
  }

  /** The key as the gateway spells it; empty if there is none. Not all conversations are listed. */
  private async find(wanted: string): Promise<string> {
    if (wanted === MAIN) return MAIN;
    const listed = this.sessions.find(({ key }) => canonicalKey(key) === wanted);
    if (listed) return listed.key;
    try {
      return (await gateway.request<{ key: string }>("sessions.resolve", { key: wanted })).key;
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      return "";
    }
  }

  private async readGatewayStatus(): Promise<void> {
    this.gatewayStatus = await gateway.request<GatewayStatus>("dragoman.gateway").catch((error: Error) => {
      if (error instanceof Unreachable) throw error;
      return null; // an older daemon
    });
  }

  private async readSessions(): Promise<void> {
    this.sessions = (await gateway.request<{ sessions: Session[] }>("sessions.list", { limit: 200 })).sessions;
  }

  /** Errors are shown in place. */
  private async attempt(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      this.requestError = "";
      return true;
    } catch (error) {
      if (gateway.connected) this.requestError = (error as Error).message;
      return false;
    }
  }

  /** A person chose it. */
  private select(key: string): void {
    this.routeTarget = "";
    router.push(VIEW, routePart(key));
    this.open(key);
  }

  private open(key: string): void {
    this.conversation.end();
    if (!this.routeTarget) router.replace(VIEW, routePart(key));
    this.error = ""; // of the conversation before
    const talk = (this.conversation = new Conversation(key));
    sessionStorage.setItem(KEPT, key);
    talk.addEventListener("change", this.redraw);
    talk.addEventListener("unsent", (event) => this.returnUnsent(key, (event as CustomEvent<string>).detail));
    talk.addEventListener(
      "arrived",
      (event) => key === this.conversation.key && this.prompt.drop((event as CustomEvent<string>).detail),
    );
    talk.start();
    this.isAtEnd = true;
    if (gateway.connected) void this.attempt(() => talk.read());
  }

  /** To the conversation that it was written in, even if another one is open by now. */
  private returnUnsent(key: string, text: string): void {
    if (key === this.conversation.key && this.hasUpdated) this.prompt.put(text);
    else drafts.putBefore(key, text);
  }

  private async create(): Promise<void> {
    await this.attempt(async () => {
      this.select((await gateway.request<{ key: string }>("sessions.create")).key);
      await this.readSessions();
    });
  }

  private async send(text: string, how: { again?: boolean } = {}): Promise<void> {
    this.isAtEnd = true;
    this.error = "";
    const { conversation: talk } = this;
    const isSent = await this.attempt(() => talk.send(text, how));
    const isNameless = this.sessions.some(({ key, label }) => key === talk.key && !label);
    if (isSent && isNameless && this.supportsLabels && talk.key !== MAIN)
      await this.attempt(() => this.label(talk.key, text));
  }

  /** After what was said first, as people find it again. */
  private async label(key: string, text: string): Promise<void> {
    try {
      await gateway.request("sessions.patch", { key, label: text.replace(/\s+/g, " ").slice(0, NAMED_BY) });
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      this.supportsLabels = false; // not every gateway does: its conversations are called by their keys
    }
    await this.readSessions();
  }

  /** The question disappears. If it had the focus, the focus moves to the input. */
  private async decide(id: string, decision: "allow" | "deny"): Promise<void> {
    if ((await this.attempt(() => approvals.decide(id, decision))) && !matchMedia("(pointer: coarse)").matches)
      this.focus();
  }

  private retry(failedMessage: ChatMessage): void {
    const question = this.conversation.messages
      .slice(0, this.conversation.messages.indexOf(failedMessage) + 1)
      .findLast(({ role }) => role === "user");
    const words = question?.parts.find((part) => part.kind === "text");
    if (words?.kind === "text") void this.send(words.text, { again: true });
  }

  override updated(): void {
    if (this.isAtEnd) this.list.scrollTop = this.list.scrollHeight;
  }

  override render() {
    const { messages } = this.conversation;
    return html`
      ${this.renderConversations()}
      <div class="said" role="log" aria-label=${t("Conversation")} tabindex="0" @scroll=${this.scrolled}>
        ${messages.length ? messages.map((one) => message(one, () => this.retry(one))) : html`<p class="empty">${t("Type a message, or / for commands. /help explains them.")}</p>`}
      </div>
      ${approvals.waiting.map(
        ({ id, tool, subject, kind }) =>
          html`<div
            class="approval"
            role="alertdialog"
            aria-label=${kind === "trust" ? t("Trust this folder") : t("Approval needed")}
          >
            <div>${kind === "trust" ? trustQuestion(tool) : t("An agent wants to use {tool}:", { tool })}</div
            ><pre>${subject}</pre>
            <button class="primary" @click=${() => this.decide(id, "allow")}>${t("Allow")}</button>
            <button @click=${() => this.decide(id, "deny")}>${t("Refuse")}</button>
          </div>`,
      )}
      ${[...new Set([this.requestError, this.error])].filter(Boolean).map((words) => html`<p class="bad" role="alert">${withInlineCode(words)}</p>`)}
      ${this.connected ? nothing : html`<p class="quiet away" role="status">${gateway.reason ? html`${t("The chat is not connected.")} ${withInlineCode(gateway.reason)}` : t("connecting…")}</p>`}
      <dragoman-prompt
        .key=${this.conversation.key}
        .earlier=${this.conversation.prompts}
        .running=${this.conversation.running !== undefined}
        @said=${(event: CustomEvent<string>) => this.send(event.detail)}
        @stopped=${() => this.attempt(() => this.conversation.abort())}
      ></dragoman-prompt>
    `;
  }

  private renderConversations() {
    const known = this.sessions.some(({ key }) => key === this.conversation.key);
    return html`<div class="bar">
      <label
        ><span class="unseen">${t("Conversation")}</span>
        <select
          @focus=${() => this.attempt(() => this.readSessions())}
          @change=${(event: Event) => this.select((event.target as HTMLSelectElement).value)}
        >
          ${known ? nothing : html`<option selected .selected=${true} value=${this.conversation.key}>${conversationName(this.conversation.key.split(":").slice(2).join(":") || this.conversation.key)}</option>`}
          ${this.sessions.map((it) => this.renderOption(it))}
        </select></label
      >
      <button @click=${this.create} ?disabled=${!this.connected}>${t("New conversation")}</button>
      ${this.renderGatewayStatus()}
    </div>`;
  }

  private renderOption({ key, label, displayName, hasActiveRun }: Session) {
    const isShown = key === this.conversation.key;
    const name = conversationName(displayName || label || key);
    const text = this.isRunning(key, hasActiveRun) ? t("{name} (running)", { name }) : name;
    return html`<option value=${key} ?selected=${isShown} .selected=${isShown}>${text}</option>`;
  }

  /** The chat's own connection, and that of the upstream gateway if one is configured. */
  private renderGatewayStatus() {
    const { gatewayStatus: outer } = this;
    const isOut = outer && outer.state !== "disconnected";
    return html`<span class="standing" role="status">
      <span class="state ${this.connected ? "connected" : "connecting"}"
        >${this.connected ? t("connected") : t("connecting…")}</span
      >
      ${isOut ? html`<span class="outer ${outer.state}" title=${`${outer.reason} ${outer.hint}`.trim()}>${t("Gateway")}: ${t(STATES[outer.state] ?? outer.state)} <code>${outer.address}</code></span>` : nothing}
    </span>`;
  }

  /** The open conversation follows its own events, which are newer than the list. */
  private isRunning(key: string, hasActiveRun: boolean): boolean {
    return key === this.conversation.key ? this.conversation.running !== undefined : hasActiveRun;
  }

  private scrolled(): void {
    this.isAtEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
        gap: 0.6rem;
        padding: 0.6rem 1rem 1rem;
        max-width: 60rem;
        width: 100%;
        margin: 0 auto;
      }
      .standing {
        display: inline-flex;
        flex-wrap: wrap;
        gap: 0 0.8rem;
        align-self: center;
        font-size: 0.85rem;
        color: var(--quiet);
        overflow-wrap: anywhere;
      }
      .standing .connected {
        color: var(--good);
      }
      .standing .error,
      .standing .pairing_required,
      .standing .paused {
        color: var(--bad);
      }
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 0.6rem;
      }
      .bar select {
        max-width: min(18rem, 100%);
      }
      .said {
        position: relative;
        flex: 1;
        min-height: 0;
        overflow: auto;
        display: flex;
        flex-direction: column;
        gap: 0.8rem;
      }
      article {
        max-width: 92%;
        overflow-wrap: anywhere;
      }
      article.user {
        align-self: flex-end;
        background: var(--raised);
        border-radius: 0.8rem;
        padding: 0.4rem 0.9rem 0.6rem;
      }
      article.assistant {
        align-self: flex-start;
        width: 92%;
      }
      .who {
        font-size: 0.8rem;
      }
      .who::first-letter {
        text-transform: uppercase;
      }
      .words {
        white-space: pre-wrap;
      }
      .prose > :first-child {
        margin-top: 0.1rem;
      }
      .prose > :last-child {
        margin-bottom: 0;
      }
      .prose p {
        margin: 0.4rem 0;
        white-space: pre-line;
      }
      .prose a {
        color: var(--accent);
      }
      .prose pre,
      .tool pre,
      .approval pre {
        padding: 0.5rem 0.8rem;
        border-radius: 0.4rem;
        background: var(--raised);
        overflow: auto;
        max-height: 20rem;
        margin: 0.4rem 0;
        font: 0.85rem/1.45 var(--mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .prose pre {
        white-space: pre;
        overflow-wrap: normal;
        border: 1px solid var(--line);
      }
      .prose code {
        font: 0.9em var(--mono);
      }
      .prose ul,
      .prose ol {
        padding-left: 1.3rem;
      }
      .prose table {
        border-collapse: collapse;
      }
      .prose th,
      .prose td {
        border: 1px solid var(--line);
        padding: 0.15rem 0.5rem;
      }
      .tool {
        border: 1px solid var(--line);
        border-radius: 0.5rem;
        background: var(--card);
        padding: 0.2rem 0.7rem;
        margin: 0.3rem 0;
        font-size: 0.92rem;
      }
      .tool summary {
        cursor: pointer;
      }
      .tool summary b {
        font: 600 0.85rem var(--mono);
      }
      .tool.done .sign {
        color: var(--good);
      }
      .tool.failed .sign {
        color: var(--bad);
      }
      .tool .line {
        font: 0.85rem var(--mono);
        white-space: pre-wrap;
      }
      .line.added {
        background: var(--added);
      }
      .line.removed {
        background: var(--removed);
      }
      .going {
        color: var(--accent);
      }
      .approval {
        border: 2px solid var(--warn);
        border-radius: 0.6rem;
        background: var(--card);
        padding: 0.6rem 0.9rem;
      }
      p {
        margin: 0.2rem 0;
      }
      @media (max-width: 40rem) {
        :host {
          padding: 0.5rem 0.6rem 0.6rem;
        }
        article.assistant,
        article {
          max-width: 100%;
          width: auto;
        }
      }
    `,
  ];
}

/** Without a tool, the request came from the person. */
function trustQuestion(tool: string): string {
  if (tool)
    return t(
      "An agent wants to use {tool}. Allow programs in this folder to run as you from now on, including when agents ask?",
      { tool },
    );
  return t(
    "You asked to run something. Allow programs in this folder to run as you from now on, including when agents ask?",
  );
}

/** In an address: most conversations are the main agent's, and the main one goes without saying. */
function routePart(key: string): string {
  return key === MAIN ? "" : key.replace(/^agent:main:/, "");
}

function conversationName(name: string): string {
  return NAMELESS.test(name) ? t("New conversation") : name;
}
