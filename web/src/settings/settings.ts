/** Settings: the server, and what can be changed of it from here; the rest with how the command line changes it. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { chosenLanguage, chosenTheme, saveLanguage, saveTheme, t, type ThemeChoice } from "../link";
import { dateAndTime } from "../parts/time";
import "./chinese";
import "./clients";
import { SettingsController, type Setting } from "./settingsController";
import "./field";
import { settingsStyles } from "./styles";

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

  @state() private query = "";

  override render() {
    const { waitingForRestart: waiting, warnings, error: errorText } = this.controller;
    const sections = this.sections();
    return html`<div class="all">
      <nav class="index" aria-label=${t("Sections of the settings")}>
        <label
          ><span class="unseen">${t("Search settings")}</span>
          <input
            id="search"
            type="search"
            placeholder=${t("Search settings")}
            .value=${this.query}
            @input=${(event: InputEvent) => (this.query = (event.target as HTMLInputElement).value)}
        /></label>
        <ul>
          ${sections.map(({ id, title }) => html`<li><button class="plain" @click=${() => this.reveal(id)}>${t(title)}</button></li>`)}
        </ul>
      </nav>
      <div>
        ${errorText ? html`<p class="bad" role="alert">${withInlineCode(errorText)}</p>` : nothing}
        ${waiting.length ? html`<p class="banner" role="status">${withInlineCode(t("Changed; a restart is needed: {keys}. Run `dragoman restart` in a terminal.", { keys: waiting.map(({ key }) => key).join(", ") }))}</p>` : nothing}
        ${warnings.map((warning) => html`<p class="waits">${withInlineCode(warning)}</p>`)}
        ${sections.map(({ content }) => content)}
        ${
          sections.length
            ? nothing
            : html`<div class="none" role="status"
                ><p>${t("No setting matches.")}</p>
                <button @click=${() => (this.query = "")}>${t("Clear the search")}</button></div
              >`
        }
      </div>
    </div>`;
  }

  /** Those that the search leaves, in their order. */
  private sections(): { id: string; title: string; content: unknown }[] {
    const { settings } = this.controller;
    const rest = [...settings.keys()].filter((key) => !PLACED.has(key));
    const all = [
      { id: "server", title: "Server", keys: [], content: () => this.server() },
      { id: "speech", title: "Language and appearance", keys: [], content: () => this.language() },
      ...SECTIONS.slice(0, 2).map((it) => this.fieldSection(it)),
      { id: `section-${GATEWAY[0]}`, title: "Gateway", keys: GATEWAY, content: (keys: string[]) => this.gateway(keys) },
      { id: "clients", title: "MCP clients", keys: [], content: () => this.clients() },
      ...SECTIONS.slice(2).map((it) => this.fieldSection(it)),
      { id: "rest", title: "Command line only", keys: rest, content: (keys: string[]) => this.rest(keys) },
    ];
    return all.flatMap(({ id, title, keys, content }) => {
      const isWhole = matchesQuery(this.query, t(title));
      const left = isWhole ? keys : keys.filter((key) => this.isFound(key));
      return isWhole || left.length ? [{ id, title, content: content(left) }] : [];
    });
  }

  private fieldSection([title, keys]: readonly [string, string[]]) {
    const id = `section-${keys[0]}`;
    return { id, title, keys, content: (left: string[]) => this.section(id, title, left) };
  }

  private isFound(key: string): boolean {
    const { about = "" } = this.controller.settings.get(key) ?? {};
    return matchesQuery(this.query, `${key} ${key.replaceAll("_", " ")} ${about}`);
  }

  private reveal(id: string): void {
    const heading = this.renderRoot.querySelector<HTMLElement>(`#${id}`);
    heading?.scrollIntoView({ block: "start" });
    heading?.focus({ preventScroll: true });
  }

  private clients() {
    return html`<section aria-labelledby="clients"
      ><h2 id="clients" tabindex="-1">${t("MCP clients")}</h2>
      <p class="quiet"
        >${withInlineCode(t("The configuration each client needs to find Dragoman. `dragoman setup` writes it for the clients on this machine."))}</p
      >
      <dragoman-clients></dragoman-clients
    ></section>`;
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
      ><h2 id="server" tabindex="-1">${t("Server")}</h2>
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
      ><h2 id="speech" tabindex="-1">${t("Language and appearance")}</h2>
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

  private section(id: string, title: string, keys: string[], before: unknown = nothing) {
    return html`<section aria-labelledby=${id}
      ><h2 id=${id} tabindex="-1">${t(title)}</h2
      >${before}${keys.map((key) => this.field(this.controller.settings.get(key)))}</section
    >`;
  }

  private field(setting: Setting | undefined) {
    return setting
      ? html`<dragoman-setting id=${setting.key} .setting=${setting} .change=${this.change}></dragoman-setting>`
      : nothing;
  }

  private gateway(keys: string[]) {
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
    return this.section(`section-${GATEWAY[0]}`, "Gateway", keys, status);
  }

  private rest(keys: string[]) {
    if (!keys.length) return nothing;
    return html`<section aria-labelledby="rest"
      ><h2 id="rest" tabindex="-1">${t("Command line only")}</h2>
      <p class="quiet"
        >${t("Settings that run programs, expose this machine or show agents more cannot be changed from a page.")}</p
      >
      ${keys.map((key) => this.field(this.controller.settings.get(key)))}</section
    >`;
  }

  static override styles = [sharedStyles, settingsStyles];
}

/** All words, wherever they stand. */
function matchesQuery(query: string, text: string): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => text.toLowerCase().includes(word));
}

function uptime(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours) return t("{hours} h {minutes} min", { hours, minutes });
  return minutes ? t("{minutes} min", { minutes }) : t("{seconds} s", { seconds: Math.floor(seconds) });
}
