/** Settings: the server, and what can be changed of it from here; the rest with how the command line changes it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { chosenLanguage, chosenTheme, saveLanguage, saveTheme, t, type ThemeChoice } from "../link";
import { dateAndTime } from "../parts/time";
import "./chinese";
import "./clients";
import { SettingsController, type Setting } from "./settingsController";
import "./field";

const SECTIONS: readonly [string, string[]][] = [
  ["Port and start", ["port", "auto_start", "mcp_starts_daemon", "log_level"]],
  ["Model", ["model", "model_name", "model_address", "model_key_variable", "model_key_command", "model_completes"]],
  ["Retention", ["journal_max_age_days", "journal_max_size_mb", "terminal_max_age_days", "session_linger_s"]],
  ["Wrapped shells", ["suggest_commands", "explain_failures", "explain_failures_every_s"]],
];
const GATEWAY = [
  "gateway_relay",
  "gateway_address",
  "gateway_token_variable",
  "gateway_token_file",
  "gateway_unlimited",
];
const PLACED = new Set([...SECTIONS.flatMap(([, keys]) => keys), ...GATEWAY]);
const THEMES = [
  ["", "same as the system"],
  ["light", "light"],
  ["dark", "dark"],
] as const;
const STATES: Record<string, string> = {
  disconnected: "not connected",
  connecting: "connecting…",
  connected: "connected",
  degraded: "connected with fewer permissions than requested",
  pairing_required: "waiting to be paired",
  paused: "temporarily paused",
  error: "failed",
};
const NOT_CONNECTED = new Set(["disconnected", "error", "paused"]);

@customElement("dragoman-settings")
export class DragomanSettings extends LitElement {
  private readonly controller = new SettingsController(this);
  private readonly change = (key: string, value: string) => this.controller.change(key, value);

  override render() {
    const { waitingForRestart: waiting, warnings, error: errorText, settings } = this.controller;
    return html`<div class="all">
      ${errorText ? html`<p class="bad" role="alert">${withInlineCode(errorText)}</p>` : nothing}
      ${waiting.length ? html`<p class="banner" role="status">${withInlineCode(t("Changed; a restart is needed: {keys}. Run `dragoman restart` in a terminal.", { keys: waiting.map(({ key }) => key).join(", ") }))}</p>` : nothing}
      ${warnings.map((warning) => html`<p class="waits">${withInlineCode(warning)}</p>`)} ${this.server()}
      ${this.language()} ${SECTIONS.slice(0, 2).map(([title, keys]) => this.section(title, keys))} ${this.gateway()}
      <section aria-labelledby="clients"
        ><h2 id="clients">${t("MCP clients")}</h2>
        <p class="quiet"
          >${withInlineCode(t("The configuration each client needs to find Dragoman. `dragoman setup` writes it for the clients on this machine."))}</p
        >
        <dragoman-clients></dragoman-clients
      ></section>
      ${SECTIONS.slice(2).map(([title, keys]) => this.section(title, keys))}
      ${this.rest([...settings.values()].filter(({ key }) => !PLACED.has(key)))}
    </div>`;
  }

  private server() {
    const it = this.controller.server;
    if (!it) return nothing;
    const rows = [
      ["Version", it.version],
      ["Process", it.pid],
      ["Address", it.address],
      ["Folder", it.workspace],
      ["Started", `${dateAndTime(it.started_at)} (${uptime(it.uptime_s)})`],
      ["Memory", `${it.resident_mb} MB`],
      ["Settings file", this.controller.file],
    ] as const;
    return html`<section aria-labelledby="server"
      ><h2 id="server">${t("Server")}</h2>
      <dl>${rows.map(([name, value]) => html`<dt>${t(name)}</dt><dd class="mono">${value}</dd>`)}</dl>
      ${it.wanted_port && it.wanted_port !== it.port ? html`<p class="waits">${t("Port {wanted} was in use; using {port} instead.", { wanted: it.wanted_port, port: it.port })}</p>` : nothing}
      <p class="quiet"
        >${withInlineCode(t("`dragoman restart` restarts it, `dragoman down` stops it, `dragoman doctor` checks for problems."))}</p
      ></section
    >`;
  }

  private language() {
    const chosen = chosenLanguage();
    const choices = [
      ["", t("same as the browser")],
      ["en", "English"],
      ["zh", "中文"],
    ] as const;
    return html`<section aria-labelledby="speech"
      ><h2 id="speech">${t("Language and appearance")}</h2>
      <label class="line"
        >${t("Language of this page")}
        <select
          id="language"
          @change=${(event: Event) => void saveLanguage((event.target as HTMLSelectElement).value as "" | "en" | "zh")}
        >
          ${choices.map(([value, name]) => html`<option value=${value} ?selected=${value === chosen}>${name}</option>`)}</select
        ></label
      >
      <label class="line"
        >${t("Theme of this page")}
        <select
          id="theme"
          @change=${(event: Event) => void saveTheme((event.target as HTMLSelectElement).value as ThemeChoice)}
        >
          ${THEMES.map(([value, name]) => html`<option value=${value} ?selected=${value === chosenTheme()}>${t(name)}</option>`)}</select
        ></label
      ></section
    >`;
  }

  private section(title: string, keys: string[], before: unknown = nothing) {
    const id = `section-${keys[0]}`;
    return html`<section aria-labelledby=${id}
      ><h2 id=${id}>${t(title)}</h2
      >${before}${keys.map((key) => this.field(this.controller.settings.get(key)))}</section
    >`;
  }

  private field(setting: Setting | undefined) {
    return setting
      ? html`<dragoman-setting id=${setting.key} .setting=${setting} .change=${this.change}></dragoman-setting>`
      : nothing;
  }

  private gateway() {
    const it = this.controller.gateway;
    if (!it) return nothing;
    const isNotConnected = NOT_CONNECTED.has(it.state);
    const status = html`<div class="standing">
      <p
        ><span id="gateway-state" class=${it.state}>${t(STATES[it.state] ?? it.state)}</span>
        <code>${it.address}</code> ${it.version}</p
      >
      ${it.reason ? html`<p>${withInlineCode(`${it.reason} ${it.hint}`)}</p>` : nothing}
      ${
        isNotConnected
          ? html`<button
              id="connect"
              ?disabled=${this.controller.isConnecting}
              @click=${() => this.controller.connect()}
              >${t("Connect")}</button
            >`
          : html`<button id="disconnect" @click=${() => this.controller.disconnect()}>${t("Disconnect")}</button>`
      }</div
    >`;
    return this.section("Gateway", GATEWAY, status);
  }

  private rest(settings: Setting[]) {
    if (!settings.length) return nothing;
    return html`<section aria-labelledby="rest"
      ><h2 id="rest">${t("Command line only")}</h2>
      <p class="quiet"
        >${t("Settings that run programs, expose this machine or show agents more cannot be changed from a page.")}</p
      >
      ${settings.map((it) => this.field(it))}</section
    >`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
        min-height: 0;
      }
      .all {
        height: 100%;
        overflow: auto;
        padding: 0.8rem max(1rem, calc((100% - 56rem) / 2)) 3rem;
      }
      section {
        margin: 0 0 1rem;
        padding: 0.6rem 1rem 0.8rem;
        background: var(--card);
        border: 1px solid var(--line);
        border-radius: 0.6rem;
      }
      h2 {
        margin: 0.1rem 0 0.5rem;
        font-size: 1.05rem;
      }
      p {
        margin: 0.3rem 0;
        overflow-wrap: anywhere;
      }
      dl {
        display: grid;
        grid-template-columns: max-content minmax(0, 1fr);
        gap: 0.15rem 1.2rem;
        margin: 0;
      }
      dt {
        color: var(--quiet);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      .line {
        display: flex;
        flex-wrap: wrap;
        gap: 0.4rem 1rem;
        align-items: center;
      }
      .banner {
        background: var(--marked);
        border: 1px solid var(--line);
        border-radius: 0.5rem;
        padding: 0.5rem 0.9rem;
        margin-bottom: 0.8rem;
      }
      .waits {
        color: var(--warn);
      }
      .standing {
        padding-bottom: 0.6rem;
      }
      p code {
        font: 0.92em var(--mono);
      }
      #gateway-state {
        font-weight: 600;
      }
      #gateway-state.connected {
        color: var(--good);
      }
      #gateway-state.error,
      #gateway-state.pairing_required {
        color: var(--bad);
      }
    `,
  ];
}

function uptime(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours) return t("{hours} h {minutes} min", { hours, minutes });
  return minutes ? t("{minutes} min", { minutes }) : t("{seconds} s", { seconds: Math.floor(seconds) });
}
