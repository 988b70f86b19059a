/** MCP clients: which are connected, and connecting one by copying its configuration or letting Dragoman write it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { t } from "../link";
import "../parts/copyButton";
import { icon } from "../parts/icons";
import "./chinese";
import { clientConfigs, type Client, type PlannedChange } from "./clientConfigs";

@customElement("dragoman-clients")
export class DragomanClients extends LitElement {
  private unwatch = () => {};
  private readonly changed = () => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    clientConfigs.addEventListener("change", this.changed);
    this.unwatch = clientConfigs.watch();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clientConfigs.removeEventListener("change", this.changed);
    this.unwatch();
  }

  override render() {
    const { clients } = clientConfigs;
    const found = clients.filter(({ installed, configured }) => installed || configured);
    const others = clients.filter((it) => !found.includes(it));
    return html`${found.map((client) => this.client(client))}
    ${
      others.length
        ? html`<details class="others" ?open=${!found.length}>
            <summary>${t("Other clients ({count})", { count: others.length })}</summary>
            ${others.map((client) => this.client(client))}
          </details>`
        : nothing
    }`;
  }

  private client(it: Client) {
    return html`<div class="client" id="client-${it.id}">
      <div class="head">
        <span class="mark ${it.configured ? "done" : ""}" aria-hidden="true"
          >${icon(it.configured ? "check" : "plug")}</span
        >
        <span class="name"
          ><b>${it.title}</b>
          ${it.configured ? html`<span class="good">${t("connected to Dragoman")}</span>` : it.installed ? html`<span class="quiet">${t("found on this machine")}</span>` : nothing}</span
        >
        <span class="actions">
          <dragoman-copy
            .text=${it.stdio.text}
            .what=${t("the configuration of {client}", { client: it.title })}
          ></dragoman-copy>
          ${
            it.path && !it.configured
              ? html`<button
                  class=${it.installed ? "primary" : ""}
                  aria-label=${t("Write it for me: {client}", { client: it.title })}
                  @click=${() => clientConfigs.plan(it.id)}
                  >${t("Write it for me")}</button
                >`
              : nothing
          }
        </span>
      </div>
      ${this.notice(it)}
      <details class="more">
        <summary>${t("Other ways to connect")}</summary>
        ${it.path ? html`<p class="quiet">${t("Configuration file:")} <code>${it.path}</code></p>` : nothing}
        ${it.note ? html`<p class="quiet">${withInlineCode(it.note)}</p>` : nothing}
        ${this.text(t("The client starts Dragoman (stdio)"), it.stdio.text)}
        ${it.http ? this.text(t("The client connects to this daemon (HTTP)"), it.http.text) : nothing}
        ${it.http ? html`<p class="quiet">${withInlineCode(t("The token is not shown here: `{command}` writes it.", { command: `dragoman client-config ${it.id} --http --write` }))}</p>` : nothing}
        ${it.cli ? this.text(t("Or use the client's own command"), it.cli.map(quoted).join(" ")) : nothing}
      </details>
    </div>`;
  }

  private notice(it: Client) {
    const { plan, messages, error } = clientConfigs.notice(it.id);
    if (error) return html`<p class="bad notice" role="alert">${withInlineCode(error)}</p>`;
    if (messages)
      return html`<p class="good notice" role="status"
        >${withInlineCode(messages.join(" "))}
        ${t("Restart {client} or reload its MCP servers to apply the change.", { client: it.title })}</p
      >`;
    return plan ? this.plan(it, plan) : nothing;
  }

  private plan(it: Client, { path, change, lines }: PlannedChange) {
    if (change === "unchanged")
      return html`<p class="notice" role="status"
        >${t("Nothing to write: {path} has this entry already.", { path })}</p
      >`;
    return html`<div class="plan" role="group" aria-label=${t("Write it for me: {client}", { client: it.title })}>
      <p role="status">${t("This is written to {path}:", { path })}</p>
      <pre tabindex="0">
${lines.filter((line) => line !== "@@").map((line) => html`<span class=${lineKind(line)}>${line}</span>`)}</pre>
      <p class="choice">
        <button @click=${() => clientConfigs.dismiss(it.id)}>${t("Cancel")}</button>
        <button class="primary" @click=${() => clientConfigs.write(it.id)}>${t("Write")}</button>
      </p>
    </div>`;
  }

  private text(title: string, text: string) {
    return html`<div class="one"
      ><div class="title"><span>${title}</span> <dragoman-copy .text=${text} .what=${title}></dragoman-copy></div>
      <pre tabindex="0">${text}</pre>
    </div>`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
      }
      .client {
        border-top: 1px solid var(--line);
        padding: 0.55rem 0;
      }
      .client:first-child {
        border-top: 0;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.3rem 0.7rem;
      }
      .mark {
        display: grid;
        place-items: center;
        width: 1.75rem;
        height: 1.75rem;
        border-radius: 50%;
        background: var(--raised);
        color: var(--quiet);
      }
      .mark.done {
        background: var(--added);
        color: var(--good);
      }
      .name {
        flex: 1;
        min-width: 9rem;
      }
      .name .good,
      .name .quiet {
        font-size: 0.85rem;
        margin-left: 0.4rem;
      }
      .actions {
        display: flex;
        gap: 0.5rem;
        align-items: center;
        font-size: 0.9rem;
      }
      .good {
        color: var(--good);
      }
      .more,
      .notice,
      .plan {
        margin-left: 2.45rem;
      }
      summary {
        cursor: pointer;
        color: var(--quiet);
        font-size: 0.85rem;
      }
      .others > summary {
        padding: 0.5rem 0;
        border-top: 1px solid var(--line);
      }
      .others:first-child > summary {
        border-top: 0;
      }
      p {
        margin: 0.3rem 0;
        font-size: 0.9rem;
        overflow-wrap: anywhere;
      }
      .title {
        display: flex;
        gap: 0.6rem;
        align-items: center;
        margin-top: 0.5rem;
        font-size: 0.9rem;
      }
      code {
        font: 0.92em var(--mono);
      }
      pre {
        margin: 0.3rem 0;
        padding: 0.6rem 0.8rem;
        background: var(--raised);
        border-radius: 0.4rem;
        overflow: auto;
        font: 0.82rem/1.45 var(--mono);
      }
      pre span {
        display: block;
        margin: 0 -0.8rem;
        padding: 0 0.8rem;
      }
      .added {
        background: var(--added);
      }
      .removed {
        background: var(--removed);
      }
      .choice {
        display: flex;
        justify-content: flex-end;
        gap: 0.6rem;
      }
      @media (max-width: 40rem) {
        .more,
        .notice,
        .plan {
          margin-left: 0;
        }
      }
    `,
  ];
}

function lineKind(line: string): string {
  return { "+": "added", "-": "removed" }[line[0] ?? ""] ?? "";
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
