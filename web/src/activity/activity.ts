/** Everything that every agent and person did, as it happens, newest first. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { shared } from "../app/shared";
import { feed, t, unlessAway, type Row, type Snapshot } from "../link";
import { recorded } from "../link/feed";
import { dayAndTime, timeOfDay } from "../parts/clock";
import "../parts/rows";
import { acquaintances, learn } from "../parts/who";
import { once } from "./once";
import { doer, sentence } from "./sentences";

const KEPT = 20_000;
const RECENT = 200;
const AREAS: readonly [string, string[]][] = [
  ["debug", ["debug.", "breakpoint."]], ["terminal", ["terminal."]], ["chat", ["chat."]], ["canvas", ["canvas."]],
  ["agents", ["mcp."]], ["daemon", ["daemon.", "journal.", "workspace."]],
];

@customElement("dragoman-activity")
export class DragomanActivity extends LitElement {
  @state() private rows: Row[] = [];
  @state() private area = "";
  @state() private words = "";
  @state() private by = "";
  @state() private opened = -1;
  @state() private held: Row[] | null = null;
  private stop = () => {};
  /** What is looked for in: made once of each event, and again when somebody's name is learned. */
  private words_of = new WeakMap<Row, string>();

  override connectedCallback(): void {
    super.connectedCallback();
    acquaintances.addEventListener("learned", this.learned);
    this.stop = feed.subscribe([], {
      events: (rows) => this.add(rows),
      erased: () => Object.assign(this, { rows: [], held: null, opened: -1 }),
      reset: (snapshot) => void this.load(snapshot).catch(unlessAway),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    acquaintances.removeEventListener("learned", this.learned);
    this.stop();
  }

  private readonly learned = (): void => {
    this.words_of = new WeakMap();
    this.rows = [...this.rows]; // every row that is in sight is drawn again
  };

  /** What is not known yet of the last things that happened; events that arrive meanwhile are later ones. */
  private async load({ sequence }: Snapshot): Promise<void> {
    if (sequence < (this.rows[0]?.sequence ?? 0)) this.rows = []; // another record than before
    const after = Math.max(this.rows[0]?.sequence ?? 0, sequence - RECENT, 0);
    const events = await recorded(after, sequence);
    events.forEach(learn);
    this.rows = once(merged(events, this.rows)).slice(0, KEPT);
  }

  /** What was asked for may be ahead of what the feed has told by then. */
  private add(rows: Row[]): void {
    rows.forEach(learn);
    const newest = this.rows[0]?.sequence ?? 0;
    const later = rows.filter((row) => row.sequence > newest);
    this.rows = once([...later.toReversed(), ...this.rows]).slice(0, KEPT);
  }

  private get found(): Row[] {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = AREAS.find(([area]) => area === this.area)?.[1] ?? [""];
    return (this.held ?? this.rows).filter(
      (row) => kinds.some((it) => row.event.kind.startsWith(it)) && (!this.by || doer(row) === this.by) && words.every((word) => this.wordsOf(row).includes(word)),
    );
  }

  private wordsOf(row: Row): string {
    const { kind, session = "", text = "" } = row.event;
    const known = this.words_of.get(row);
    const words = known ?? `${kind} ${session} ${doer(row)} ${sentence(row)} ${text}`.toLowerCase();
    if (known === undefined) this.words_of.set(row, words);
    return words;
  }

  override render() {
    const found = this.found;
    return html`
      <form class="bar" role="search" @submit=${(event: Event) => event.preventDefault()}>
        <label><span class="unseen">${t("Find")}</span>
          <input
            id="find" type="search" placeholder=${t("Find in what happened")} .value=${this.words}
            @input=${(event: InputEvent) => (this.words = (event.target as HTMLInputElement).value)}
          /></label>
        <label><span class="unseen">${t("Of what")}</span>
          <select id="area" @change=${(event: Event) => (this.area = (event.target as HTMLSelectElement).value)}>
            <option value="">${t("everything")}</option>
            ${AREAS.map(([area]) => html`<option value=${area}>${t(area)}</option>`)}
          </select></label>
        <label><span class="unseen">${t("By whom")}</span>
          <select id="by" @change=${(event: Event) => (this.by = (event.target as HTMLSelectElement).value)}>
            <option value="">${t("everybody")}</option>
            ${this.doers.map((name) => html`<option value=${name} .selected=${name === this.by}>${name}</option>`)}
          </select></label>
        <button type="button" aria-pressed=${this.held !== null} @click=${this.hold}>
          ${this.held ? t("Go on ({count} new)", { count: this.newer }) : t("Pause the list")}
        </button>
        <span class="quiet count" role="status">${t("events: {count}", { count: found.length })}</span>
      </form>
      ${found.length
        ? html`<dragoman-rows id="events" .rows=${found} .height=${32} .key_of=${({ sequence }: Row) => sequence} .render_row=${this.row}></dragoman-rows>`
        : html`<p class="empty">${this.rows.length ? t("Nothing fits.") : t("Nothing happened yet.")}</p>`}
      ${this.detail(found)}
    `;
  }

  /** Whoever did something of what is listed, and who is looked for, also where that is none any more. */
  private get doers(): string[] {
    const names = new Set((this.held ?? this.rows).map(doer));
    return [...names.add(this.by)].filter(Boolean).sort();
  }

  private get newer(): number {
    const seen = this.held?.[0]?.sequence ?? 0;
    return this.rows.filter(({ sequence }) => sequence > seen).length;
  }

  private hold(): void {
    this.held = this.held ? null : this.rows;
  }

  private readonly row = (row: Row) => {
    const { sequence, event } = row;
    return html`<button
      class="plain row ${sequence === this.opened ? "opened" : ""}" aria-expanded=${sequence === this.opened}
      @click=${() => (this.opened = this.opened === sequence ? -1 : sequence)}
    ><span class="number">${sequence}</span><time>${clock(row.at_ns)}</time
      ><span class="kind" title=${event.kind}>${areaOf(event.kind)}</span><span class="who">${doer(row)}</span><span class="text">${sentence(row)}</span></button>`;
  };

  private detail(found: Row[]) {
    const row = found.find(({ sequence }) => sequence === this.opened);
    if (!row) return nothing;
    const { event } = row;
    return html`<aside aria-label=${t("Details")}>
      <div class="head">
        <strong class="mono">${event.kind}</strong>
        <span class="quiet">${dayAndTime(row.at_ns / 1e6)} ${doer(row)} ${event.session ?? ""}</span>
        <button class="plain" @click=${() => (this.opened = -1)}>${t("Close")}</button>
      </div>
      <p>${sentence(row)}</p>
      <pre>${JSON.stringify(event.body ?? {}, null, 2)}</pre>
    </aside>`;
  }

  static override styles = [
    shared,
    css`
      :host { display: flex; flex-direction: column; min-height: 0; }
      .bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; padding: .6rem 1rem; }
      #find { width: 18rem; }
      .count { margin-left: auto; font-size: .9rem; }
      dragoman-rows { flex: 1; min-height: 0; border-top: 1px solid var(--line); background: var(--card); }
      button.row {
        display: grid; grid-template-columns: 4rem 5rem 6rem 13rem 1fr; gap: .8rem; align-items: center; width: 100%;
        height: 32px; padding: 0 1rem; border: 0; border-bottom: 1px solid var(--line); border-radius: 0;
        text-align: left; font: .85rem/1.6 var(--mono);
      }
      button.row:hover, button.row.opened { background: var(--raised); }
      .row > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .number { text-align: right; }
      .number, time { color: var(--quiet); }
      .kind { color: var(--accent); }
      .who { color: var(--quiet); }
      aside { max-height: 45%; overflow: auto; border-top: 2px solid var(--accent); background: var(--card); padding: .6rem 1rem; }
      .head { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; }
      .head button { margin-left: auto; }
      pre { margin: .4rem 0; font: .85rem/1.45 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
      @media (max-width: 40rem) {
        #find { width: 100%; }
        button.row { grid-template-columns: 4.6rem 6rem 1fr; padding: 0 .6rem; gap: .5rem; }
        .who { order: 1; }
        .kind, .text { order: 2; }
        .number, .row:not(:has(.text:empty)) .kind, .text:empty { display: none; } /* a sentence says it better */
      }
    `,
  ];
}

/** In a word; what came after this page was made bears its own name. */
function areaOf(kind: string): string {
  const area = AREAS.find(([, kinds]) => kinds.some((it) => kind.startsWith(it)))?.[0];
  return area ? t(area) : kind;
}

function clock(atNs: number): string {
  return timeOfDay(atNs / 1e6);
}

function merged(some: Row[], others: Row[]): Row[] {
  const all = new Map([...some, ...others].map((row) => [row.sequence, row]));
  return [...all.values()].toSorted((a, b) => b.sequence - a.sequence);
}
