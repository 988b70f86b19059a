/** The configuration of each MCP client, copied as a whole with one button. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { t } from "../link";
import "./chinese";
import type { Client } from "./settingsController";

const COPIED_NOTICE_MS = 2500;

@customElement("dragoman-clients")
export class DragomanClients extends LitElement {
  @property({ attribute: false }) clients: Client[] = [];
  @state() private copied = "";
  @state() private error = "";
  private timer = 0;

  private async copy(id: string, text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.copied = id;
      this.error = "";
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => (this.copied = ""), COPIED_NOTICE_MS);
    } catch {
      this.error = t("The browser blocked copying. Select the text and copy it yourself.");
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  override render() {
    const sorted = [...this.clients].sort((a, b) => Number(b.installed) - Number(a.installed));
    return html`
      ${this.error ? html`<p class="bad" role="alert">${this.error}</p>` : nothing}
      ${sorted.map((client) => this.client(client))}
    `;
  }

  private client(it: Client) {
    return html`<details id="client-${it.id}">
      <summary
        ><b>${it.title}</b>
        ${it.installed ? html`<span class="good">${t("found on this machine")}</span>` : nothing}</summary
      >
      ${it.path ? html`<p class="quiet">${t("Configuration file:")} <code>${it.path}</code></p>` : nothing}
      ${it.note ? html`<p class="quiet">${withInlineCode(it.note)}</p>` : nothing}
      ${this.text(`${it.id} stdio`, t("The client starts Dragoman (stdio)"), it.stdio.text)}
      ${it.http ? this.text(`${it.id} http`, t("The client connects to this daemon (HTTP)"), it.http.text) : nothing}
      ${it.http ? html`<p class="quiet">${withInlineCode(t("The token is not shown here: `{command}` writes it.", { command: `dragoman client-config ${it.id} --http --write` }))}</p>` : nothing}
      ${it.cli ? this.text(`${it.id} cli`, t("Or use the client's own command"), it.cli.map(quoted).join(" ")) : nothing}
    </details>`;
  }

  private text(id: string, title: string, text: string) {
    return html`<div class="one"
      ><div class="head"
        ><span>${title}</span>
        <button aria-label=${t("Copy: {what}", { what: title })} @click=${() => this.copy(id, text)}
          >${t("Copy")}</button
        >
        ${this.copied === id ? html`<span class="good" role="status">${t("Copied.")}</span>` : nothing}</div
      >
      <pre tabindex="0">${text}</pre>
    </div>`;
  }

  static override styles = [
    sharedStyles,
    css`
      details {
        border-top: 1px solid var(--line);
        padding: 0.45rem 0;
      }
      summary {
        cursor: pointer;
      }
      p {
        margin: 0.3rem 0;
        font-size: 0.9rem;
        overflow-wrap: anywhere;
      }
      .good {
        color: var(--good);
        font-size: 0.85rem;
      }
      .head {
        display: flex;
        gap: 0.6rem;
        align-items: center;
        margin-top: 0.5rem;
      }
      pre {
        margin: 0.3rem 0;
        padding: 0.6rem 0.8rem;
        background: var(--raised);
        border-radius: 0.4rem;
        overflow: auto;
        font: 0.82rem/1.45 var(--mono);
      }
    `,
  ];
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
