/** Settings: the server, and what can be changed of it from here; the rest with how the command line changes it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { shared } from "../app/shared";
import { spoken } from "../app/spoken";
import { chosenLanguage, keepLanguage, t } from "../link";
import { dayAndTime } from "../parts/clock";
import "./chinese";
import "./clients";
import { Desk, type Setting } from "./desk";
import "./field";

const SECTIONS: readonly [string, string[]][] = [
  ["Port and start", ["port", "auto_start", "mcp_starts_daemon", "log_level"]],
  ["Model", ["model", "model_name", "model_address", "model_key_variable", "model_key_command", "model_completes"]],
  ["What is kept", ["journal_max_age_days", "journal_max_size_mb", "terminal_max_age_days", "session_linger_s"]],
  ["Wrapped shells", ["suggest_commands", "explain_failures", "explain_failures_every_s"]],
];
const GATEWAY = ["gateway_relay", "gateway_address", "gateway_token_variable", "gateway_token_file", "gateway_unlimited"];
const PLACED = new Set([...SECTIONS.flatMap(([, keys]) => keys), ...GATEWAY]);
const STATES: Record<string, string> = {
  disconnected: "not connected", connecting: "connecting…", connected: "connected", degraded: "connected, with less than was asked for",
  pairing_required: "waits to be paired", paused: "paused for now", error: "failed",
};
const AWAY = new Set(["disconnected", "error", "paused"]);

@customElement("dragoman-settings")
export class DragomanSettings extends LitElement {
  private readonly desk = new Desk(this);
  private readonly change = (key: string, value: string) => this.desk.change(key, value);

  override render() {
    const { waiting, warnings, trouble, settings } = this.desk;
    return html`<div class="all">
      ${trouble ? html`<p class="bad" role="alert">${spoken(trouble)}</p>` : nothing}
      ${waiting.length ? html`<p class="banner" role="status">${spoken(t("Changed, and waiting for a restart: {keys}. Run `dragoman restart` in a terminal.", { keys: waiting.map(({ key }) => key).join(", ") }))}</p>` : nothing}
      ${warnings.map((warning) => html`<p class="waits">${spoken(warning)}</p>`)}
      ${this.server()} ${this.language()}
      ${SECTIONS.slice(0, 2).map(([title, keys]) => this.section(title, keys))}
      ${this.gateway()}
      <section aria-labelledby="clients"><h2 id="clients">${t("MCP clients")}</h2>
        <p class="quiet">${spoken(t("What each client needs to find Dragoman. `dragoman setup` writes it into the clients of this machine."))}</p>
        <dragoman-clients .clients=${this.desk.clients}></dragoman-clients></section>
      ${SECTIONS.slice(2).map(([title, keys]) => this.section(title, keys))}
      ${this.rest([...settings.values()].filter(({ key }) => !PLACED.has(key)))}
    </div>`;
  }

  private server() {
    const it = this.desk.server;
    if (!it) return nothing;
    const rows = [
      ["Version", it.version], ["Process", it.pid], ["Address", it.address], ["Folder", it.workspace],
      ["Started", `${dayAndTime(it.started_at)} (${lasted(it.uptime_s)})`], ["Memory", `${it.resident_mb} MB`], ["Settings file", this.desk.file],
    ] as const;
    return html`<section aria-labelledby="server"><h2 id="server">${t("Server")}</h2>
      <dl>${rows.map(([name, value]) => html`<dt>${t(name)}</dt><dd class="mono">${value}</dd>`)}</dl>
      ${it.wanted_port && it.wanted_port !== it.port ? html`<p class="waits">${t("Port {wanted} was taken, so this is {port}.", { wanted: it.wanted_port, port: it.port })}</p>` : nothing}
      <p class="quiet">${spoken(t("`dragoman restart` starts it anew, `dragoman down` ends it, `dragoman doctor` looks for what may be wrong."))}</p></section>`;
  }

  private language() {
    const chosen = chosenLanguage();
    const choices = [["", t("as the browser says")], ["en", "English"], ["zh", "中文"]] as const;
    return html`<section aria-labelledby="speech"><h2 id="speech">${t("Language")}</h2>
      <label class="line">${t("Language of this page")}
        <select id="language" @change=${(event: Event) => void keepLanguage((event.target as HTMLSelectElement).value as "" | "en" | "zh")}>
          ${choices.map(([value, name]) => html`<option value=${value} ?selected=${value === chosen}>${name}</option>`)}</select></label></section>`;
  }

  private section(title: string, keys: string[], before: unknown = nothing) {
    const id = `section-${keys[0]}`;
    return html`<section aria-labelledby=${id}><h2 id=${id}>${t(title)}</h2>${before}${keys.map((key) => this.field(this.desk.settings.get(key)))}</section>`;
  }

  private field(setting: Setting | undefined) {
    return setting ? html`<dragoman-setting id=${setting.key} .setting=${setting} .change=${this.change}></dragoman-setting>` : nothing;
  }

  private gateway() {
    const it = this.desk.gateway;
    if (!it) return nothing;
    const isAway = AWAY.has(it.state);
    const standing = html`<div class="standing">
      <p><span id="gateway-state" class=${it.state}>${t(STATES[it.state] ?? it.state)}</span> <code>${it.address}</code> ${it.version}</p>
      ${it.reason ? html`<p>${spoken(`${it.reason} ${it.hint}`)}</p>` : nothing}
      ${isAway
        ? html`<button id="connect" ?disabled=${this.desk.isConnecting} @click=${() => this.desk.connect()}>${t("Connect")}</button>`
        : html`<button id="disconnect" @click=${() => this.desk.disconnect()}>${t("Disconnect")}</button>`}</div>`;
    return this.section("Gateway", GATEWAY, standing);
  }

  private rest(settings: Setting[]) {
    if (!settings.length) return nothing;
    return html`<section aria-labelledby="rest"><h2 id="rest">${t("Only at the command line")}</h2>
      <p class="quiet">${t("What runs programs, opens this machine to others or shows agents more is not changed from a page.")}</p>
      ${settings.map((it) => this.field(it))}</section>`;
  }

  static override styles = [
    shared,
    css`
      :host { display: block; min-height: 0; }
      .all { height: 100%; overflow: auto; padding: .8rem max(1rem, calc((100% - 56rem) / 2)) 3rem; }
      section { margin: 0 0 1rem; padding: .6rem 1rem .8rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
      h2 { margin: .1rem 0 .5rem; font-size: 1.05rem; }
      p { margin: .3rem 0; overflow-wrap: anywhere; }
      dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1.2rem; margin: 0; }
      dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
      .line { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; }
      .banner { background: var(--marked); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; margin-bottom: .8rem; }
      .waits { color: var(--warn); }
      .standing { padding-bottom: .6rem; }
      p code { font: .92em var(--mono); }
      #gateway-state { font-weight: 600; } #gateway-state.connected { color: var(--good); } #gateway-state.error, #gateway-state.pairing_required { color: var(--bad); }
    `,
  ];
}

function lasted(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours) return t("{hours} h {minutes} min", { hours, minutes });
  return minutes ? t("{minutes} min", { minutes }) : t("{seconds} s", { seconds: Math.floor(seconds) });
}
