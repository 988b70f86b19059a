/** What each agent used: its calls, how long it was connected, and the characters that it was sent. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { feed, ignoreUnreachable, request, t } from "../link";
import { coalesced } from "../parts/coalesced";
import { icon } from "../parts/icons";
import { locale } from "../i18n/t";
import "./chinese";
import { usageByAgent, type AgentConnection } from "./usage";

const POLL_INTERVAL_MS = 3000;

@customElement("dragoman-agent-usage")
export class AgentUsageList extends LitElement {
  /** The agent whose events are shown alone. */
  @property() chosen = "";
  @state() private connections: readonly AgentConnection[] = [];
  private unsubscribe = () => {};
  private timer = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    const read = () => void this.read().catch(ignoreUnreachable);
    this.unsubscribe = feed.subscribe("mcp.", { events: read, reset: read });
    this.timer = window.setInterval(
      () => this.checkVisibility() && feed.state === "connected" && read(),
      POLL_INTERVAL_MS,
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.unsubscribe();
    clearInterval(this.timer);
  }

  private readonly read = coalesced(async () => {
    this.connections = (await request<{ agents: AgentConnection[] }>("/api/agents")).agents;
  });

  override render() {
    const agents = usageByAgent(this.connections, Date.now() * 1e6);
    if (!agents.length) return nothing;
    return html`<ul aria-label=${t("Agents")}>
      ${agents.map(
        (it) =>
          html`<li>
            <button
              aria-pressed=${it.name === this.chosen}
              @click=${() => this.dispatchEvent(new CustomEvent("chosen", { detail: it.name === this.chosen ? "" : it.name }))}
            >
              <span class="name ${it.isConnected ? "on" : ""}">${icon("plug", 14)} ${it.name}</span>
              <span
                >${t("calls: {calls} · {minutes} min · characters: {characters}", {
                  calls: it.calls.toLocaleString(locale),
                  minutes: it.minutes.toLocaleString(locale),
                  characters: it.characters.toLocaleString(locale),
                })}</span
              >
              <span class="unseen">${it.isConnected ? t("connected") : t("not connected")}</span>
            </button>
          </li>`,
      )}
    </ul>`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
        flex: none;
      }
      ul {
        display: flex;
        gap: 0.5rem;
        list-style: none;
        margin: 0;
        padding: 0.6rem 1rem 0;
        overflow-x: auto;
      }
      button {
        position: relative;
        display: flex;
        flex-direction: column;
        align-items: flex-start;
        gap: 0.05rem;
        padding: 0.35rem 0.8rem;
        font-size: 0.82rem;
        color: var(--quiet);
        white-space: nowrap;
      }
      button:focus-visible {
        outline-offset: -2px;
      }
      button[aria-pressed="true"] {
        border-color: var(--accent);
        background: var(--raised);
      }
      .name {
        display: flex;
        align-items: center;
        gap: 0.35rem;
        font-weight: 600;
        font-size: 0.9rem;
        color: var(--ink);
      }
      .name.on .icon {
        color: var(--good);
      }
      .icon {
        color: var(--quiet);
      }
    `,
  ];
}
