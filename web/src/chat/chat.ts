/** The chat: conversations, what is said as it is said, what agents ask before they do it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { asked } from "../app/asking";
import { place } from "../app/place";
import { shared } from "../app/shared";
import { spoken } from "../app/spoken";
import { Away, gateway, t } from "../link";
import { approvals } from "./approvals";
import { drafts } from "./drafts";
import { message } from "./message";
import "./prompt";
import type { DragomanPrompt } from "./prompt";
import { Talk, canonical, type Said } from "./talk";

/** The gateway that the daemon is a client of. */
interface Outer {
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
  connecting: "connecting…", connected: "connected", degraded: "connected, with less than was asked for",
  pairing_required: "waits to be paired", paused: "paused for now", error: "failed",
};
const MAIN = "agent:main:main";
const VIEW = "chat";
/** Where a tab keeps the conversation that it looks at. */
const KEPT = "chat";
const NAMED_BY = 48;
/** Begun, and nothing said in it yet. */
const NAMELESS = /^chat-[0-9a-f]{16}$/;

@customElement("dragoman-chat")
export class DragomanChat extends LitElement {
  @state() private sessions: Session[] = [];
  @state() private talk = new Talk(sessionStorage.getItem(KEPT) ?? MAIN);
  @state() private connected = gateway.connected;
  @state() private failed = "";
  @state() private trouble = "";
  @state() private outer: Outer | null = null;
  private keepsNames = true;
  /** The conversation that the address leads to, until it was followed. */
  private led = "";
  @query(".said") private list!: HTMLElement;
  @query("dragoman-prompt") private prompt!: DragomanPrompt;
  private isAtEnd = true;
  private unsubscribe = () => {};

  override connectedCallback(): void {
    super.connectedCallback();
    gateway.addEventListener("state", this.reconnected);
    gateway.addEventListener("trouble", this.troubled);
    this.unsubscribe = gateway.subscribe(({ event, payload }) => {
      if (event === "sessions.changed") void this.attempt(() => this.readSessions());
      if (event === "dragoman.gateway") void this.attempt(() => this.readOuter());
      if (event === "dragoman.opened") this.open(String(payload.key)); // an editor's window is about its folder
    });
    approvals.addEventListener("change", this.redraw);
    asked.addEventListener("asked", this.quote);
    place.addEventListener("led", this.followAddress);
    if (place.of(VIEW).length) this.followAddress();
    this.open(this.talk.key);
    this.reconnected();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    gateway.removeEventListener("state", this.reconnected);
    gateway.removeEventListener("trouble", this.troubled);
    this.unsubscribe();
    approvals.removeEventListener("change", this.redraw);
    asked.removeEventListener("asked", this.quote);
    place.removeEventListener("led", this.followAddress);
    this.talk.end();
  }

  override firstUpdated(): void {
    this.quote();
  }

  override focus(): void {
    void this.updateComplete.then(() => this.prompt.focus());
  }

  /** What an editor could not do for the chat, without being asked here. */
  private readonly troubled = (event: Event): void => {
    this.trouble = (event as CustomEvent<string>).detail;
  };

  private readonly redraw = (): void => this.requestUpdate();

  /** What was chosen elsewhere to be asked about. */
  private readonly quote = (): void => {
    const text = this.hasUpdated ? asked.take() : "";
    if (text) this.prompt.put(text);
  };

  private readonly reconnected = (): void => {
    this.connected = gateway.connected;
    if (this.connected) void this.attempt(() => this.readAll());
  };

  private async readAll(): Promise<void> {
    await gateway.request("sessions.subscribe");
    await Promise.all([this.readSessions(), this.talk.read({ afterLoss: true }), this.readOuter()]);
    await this.arrive();
  }

  /** One that names no conversation is that of the main one. */
  private readonly followAddress = (): void => {
    if (place.view !== VIEW) return;
    this.led = canonical(place.of(VIEW)[0] ?? "main");
    if (gateway.connected) void this.attempt(() => this.arrive());
  };

  /** At the conversation that the address names, if there is one. */
  private async arrive(): Promise<void> {
    const { led } = this;
    if (!led) return;
    const key = led === canonical(this.talk.key) ? this.talk.key : await this.find(led);
    if (led !== this.led) return; // the person went on meanwhile
    this.led = "";
    if (key && key !== this.talk.key) return this.open(key);
    place.become(VIEW, spelled(this.talk.key));
    if (!key) this.trouble = t("The conversation of this address is gone.");
  }

  /** As the gateway spells it; empty where there is none. Not all of them are listed. */
  private async find(wanted: string): Promise<string> {
    if (wanted === MAIN) return MAIN;
    const listed = this.sessions.find(({ key }) => canonical(key) === wanted);
    if (listed) return listed.key;
    try {
      return (await gateway.request<{ key: string }>("sessions.resolve", { key: wanted })).key;
    } catch (error) {
      if (error instanceof Away) throw error;
      return "";
    }
  }

  private async readOuter(): Promise<void> {
    this.outer = await gateway.request<Outer>("dragoman.gateway").catch((error: Error) => {
      if (error instanceof Away) throw error;
      return null; // a daemon of before
    });
  }

  private async readSessions(): Promise<void> {
    this.sessions = (await gateway.request<{ sessions: Session[] }>("sessions.list", { limit: 200 })).sessions;
  }

  /** What goes wrong is said in place. */
  private async attempt(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      this.failed = "";
      return true;
    } catch (error) {
      if (gateway.connected) this.failed = (error as Error).message;
      return false;
    }
  }

  /** A person chose it. */
  private choose(key: string): void {
    this.led = "";
    place.go(VIEW, spelled(key));
    this.open(key);
  }

  private open(key: string): void {
    this.talk.end();
    if (!this.led) place.become(VIEW, spelled(key));
    this.trouble = ""; // of the conversation before
    const talk = (this.talk = new Talk(key));
    sessionStorage.setItem(KEPT, key);
    talk.addEventListener("change", this.redraw);
    talk.addEventListener("unsent", (event) => this.giveBack(key, (event as CustomEvent<string>).detail));
    talk.addEventListener("arrived", (event) => key === this.talk.key && this.prompt.drop((event as CustomEvent<string>).detail));
    talk.begin();
    this.isAtEnd = true;
    if (gateway.connected) void this.attempt(() => talk.read());
  }

  /** To the conversation that it was written in, whichever is looked at by now. */
  private giveBack(key: string, text: string): void {
    if (key === this.talk.key && this.hasUpdated) this.prompt.put(text);
    else drafts.putBefore(key, text);
  }

  private async create(): Promise<void> {
    await this.attempt(async () => {
      this.choose((await gateway.request<{ key: string }>("sessions.create")).key);
      await this.readSessions();
    });
  }

  private async say(text: string, how: { again?: boolean } = {}): Promise<void> {
    this.isAtEnd = true;
    this.trouble = "";
    const { talk } = this;
    const isSent = await this.attempt(() => talk.send(text, how));
    const isNameless = this.sessions.some(({ key, label }) => key === talk.key && !label);
    if (isSent && isNameless && this.keepsNames && talk.key !== MAIN) await this.attempt(() => this.name(talk.key, text));
  }

  /** After what was said first, as people find it again. */
  private async name(key: string, text: string): Promise<void> {
    try {
      await gateway.request("sessions.patch", { key, label: text.replace(/\s+/g, " ").slice(0, NAMED_BY) });
    } catch (error) {
      if (error instanceof Away) throw error;
      this.keepsNames = false; // not every gateway does: its conversations are called by their keys
    }
    await this.readSessions();
  }

  /** The question goes, and the focus that was in it goes on to where the person writes. */
  private async decide(id: string, decision: "allow" | "deny"): Promise<void> {
    if ((await this.attempt(() => approvals.decide(id, decision))) && !matchMedia("(pointer: coarse)").matches) this.focus();
  }

  private retry(said: Said): void {
    const asked = this.talk.said.slice(0, this.talk.said.indexOf(said) + 1).findLast(({ role }) => role === "user");
    const words = asked?.parts.find((part) => part.kind === "text");
    if (words?.kind === "text") void this.say(words.text, { again: true });
  }

  override updated(): void {
    if (this.isAtEnd) this.list.scrollTop = this.list.scrollHeight;
  }

  override render() {
    const { said } = this.talk;
    return html`
      ${this.choice()}
      <div class="said" role="log" aria-label=${t("Conversation")} tabindex="0" @scroll=${this.scrolled}>
        ${said.length ? said.map((one) => message(one, () => this.retry(one))) : html`<p class="empty">${t("Say something, or type / to see what can be done. /help explains.")}</p>`}
      </div>
      ${approvals.waiting.map(({ id, tool, subject, kind }) => html`<div class="approval" role="alertdialog" aria-label=${kind === "trust" ? t("Trust in a folder") : t("An agent asks")}>
        <div>${kind === "trust" ? trustQuestion(tool) : t("An agent wants to use {tool}:", { tool })}</div><pre>${subject}</pre>
        <button class="primary" @click=${() => this.decide(id, "allow")}>${t("Allow")}</button>
        <button @click=${() => this.decide(id, "deny")}>${t("Refuse")}</button>
      </div>`)}
      ${[...new Set([this.failed, this.trouble])].filter(Boolean).map((words) => html`<p class="bad" role="alert">${spoken(words)}</p>`)}
      ${this.connected ? nothing : html`<p class="quiet away" role="status">${gateway.reason ? html`${t("The chat is not connected right now.")} ${spoken(gateway.reason)}` : t("connecting…")}</p>`}
      <dragoman-prompt
        .key=${this.talk.key} .earlier=${this.talk.asked} .running=${this.talk.running !== undefined}
        @said=${(event: CustomEvent<string>) => this.say(event.detail)} @stopped=${() => this.attempt(() => this.talk.abort())}
      ></dragoman-prompt>
    `;
  }

  private choice() {
    const known = this.sessions.some(({ key }) => key === this.talk.key);
    return html`<div class="bar">
      <label><span class="unseen">${t("Conversation")}</span>
        <select @focus=${() => this.attempt(() => this.readSessions())} @change=${(event: Event) => this.choose((event.target as HTMLSelectElement).value)}>
          ${known ? nothing : html`<option selected .selected=${true} value=${this.talk.key}>${called(this.talk.key.split(":").slice(2).join(":") || this.talk.key)}</option>`}
          ${this.sessions.map((it) => this.option(it))}
        </select></label>
      <button @click=${this.create} ?disabled=${!this.connected}>${t("New conversation")}</button>
      ${this.standing()}
    </div>`;
  }

  private option({ key, label, displayName, hasActiveRun }: Session) {
    const isShown = key === this.talk.key;
    const name = called(displayName || label || key);
    const text = this.isRunning(key, hasActiveRun) ? t("{name} (running)", { name }) : name;
    return html`<option value=${key} ?selected=${isShown} .selected=${isShown}>${text}</option>`;
  }

  /** The chat's own connection, and that of the gateway behind it once somebody asked for one. */
  private standing() {
    const { outer } = this;
    const isOut = outer && outer.state !== "disconnected";
    return html`<span class="standing" role="status">
      <span class="state ${this.connected ? "connected" : "connecting"}">${this.connected ? t("connected") : t("connecting…")}</span>
      ${isOut ? html`<span class="outer ${outer.state}" title=${`${outer.reason} ${outer.hint}`.trim()}>${t("Gateway")}: ${t(STATES[outer.state] ?? outer.state)} <code>${outer.address}</code></span>` : nothing}
    </span>`;
  }

  /** Of the one that is looked at we hear it ourselves. */
  private isRunning(key: string, hasActiveRun: boolean): boolean {
    return key === this.talk.key ? this.talk.running !== undefined : hasActiveRun;
  }

  private scrolled(): void {
    this.isAtEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
  }

  static override styles = [
    shared,
    css`
      :host { display: flex; flex-direction: column; min-height: 0; gap: .6rem; padding: .6rem 1rem 1rem; max-width: 60rem; width: 100%; margin: 0 auto; }
      .standing { display: inline-flex; flex-wrap: wrap; gap: 0 .8rem; align-self: center; font-size: .85rem; color: var(--quiet); overflow-wrap: anywhere; }
      .standing .connected { color: var(--good); } .standing .error, .standing .pairing_required, .standing .paused { color: var(--bad); }
      .bar { display: flex; flex-wrap: wrap; gap: .6rem; } .bar select { max-width: min(18rem, 100%); }
      .said { position: relative; flex: 1; min-height: 0; overflow: auto; display: flex; flex-direction: column; gap: .8rem; }
      article { max-width: 92%; overflow-wrap: anywhere; }
      article.user { align-self: flex-end; background: var(--raised); border-radius: .8rem; padding: .4rem .9rem .6rem; }
      article.assistant { align-self: flex-start; width: 92%; }
      .who { font-size: .8rem; } .who::first-letter { text-transform: uppercase; }
      .words { white-space: pre-wrap; }
      .prose > :first-child { margin-top: .1rem; } .prose > :last-child { margin-bottom: 0; }
      .prose p { margin: .4rem 0; white-space: pre-line; } .prose a { color: var(--accent); }
      .prose pre, .tool pre, .approval pre {
        padding: .5rem .8rem; border-radius: .4rem; background: var(--raised); overflow: auto; max-height: 20rem; margin: .4rem 0;
        font: .85rem/1.45 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere;
      }
      .prose pre { white-space: pre; overflow-wrap: normal; border: 1px solid var(--line); }
      .prose code { font: .9em var(--mono); } .prose ul, .prose ol { padding-left: 1.3rem; }
      .prose table { border-collapse: collapse; } .prose th, .prose td { border: 1px solid var(--line); padding: .15rem .5rem; }
      .tool { border: 1px solid var(--line); border-radius: .5rem; background: var(--card); padding: .2rem .7rem; margin: .3rem 0; font-size: .92rem; }
      .tool summary { cursor: pointer; } .tool summary b { font: 600 .85rem var(--mono); }
      .tool.done .sign { color: var(--good); } .tool.failed .sign { color: var(--bad); }
      .tool .line { font: .85rem var(--mono); white-space: pre-wrap; } .line.added { background: var(--added); } .line.removed { background: var(--removed); }
      .going { color: var(--accent); }
      .approval { border: 2px solid var(--warn); border-radius: .6rem; background: var(--card); padding: .6rem .9rem; }
      p { margin: .2rem 0; }
      @media (max-width: 40rem) { :host { padding: .5rem .6rem .6rem; } article.assistant, article { max-width: 100%; width: auto; } }
    `,
  ];
}

/** Without a tool it was the person who wanted to run something. */
function trustQuestion(tool: string): string {
  if (tool) return t("An agent wants to use {tool}. May programs of this folder run from now on, as you, also when agents ask for it?", { tool });
  return t("You asked to run something. May programs of this folder run from now on, as you, also when agents ask for it?");
}

/** In an address: most conversations are the main agent's, and the main one goes without saying. */
function spelled(key: string): string {
  return key === MAIN ? "" : key.replace(/^agent:main:/, "");
}

function called(name: string): string {
  return NAMELESS.test(name) ? t("New conversation") : name;
}
