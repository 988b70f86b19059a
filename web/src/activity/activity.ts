/** Everything that every agent and person did, as it happens, newest first. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { feed, t, ignoreUnreachable, type FeedRow, type Snapshot } from "../link";
import { fetchEvents } from "../link/feed";
import { dateAndTime, timeOfDay } from "../parts/time";
import "../parts/rows";
import { actorNames, rememberActor } from "../parts/actors";
import { withoutDuplicateFailures } from "./duplicates";
import { eventActor, eventText } from "./eventText";

const KEPT = 20_000;
const RECENT = 200;
const AREAS: readonly [string, string[]][] = [
  ["debug", ["debug.", "breakpoint."]],
  ["terminal", ["terminal."]],
  ["chat", ["chat."]],
  ["canvas", ["canvas."]],
  ["agents", ["mcp."]],
  ["daemon", ["daemon.", "journal.", "workspace."]],
];

@customElement("dragoman-activity")
export class DragomanActivity extends LitElement {
  @state() private rows: FeedRow[] = [];
  @state() private area = "";
  @state() private query = "";
  @state() private actor = "";
  @state() private expanded = -1;
  @state() private paused: FeedRow[] | null = null;
  private unsubscribe = () => {};
  /** The searchable text of each event: computed once, and again when a name becomes known. */
  private searchTexts = new WeakMap<FeedRow, string>();

  override connectedCallback(): void {
    super.connectedCallback();
    actorNames.addEventListener("changed", this.namesChanged);
    this.unsubscribe = feed.subscribe([], {
      events: (rows) => this.add(rows),
      erased: () => {
        this.rows = [];
        this.paused = null;
        this.expanded = -1;
      },
      reset: (snapshot) => void this.load(snapshot).catch(ignoreUnreachable),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    actorNames.removeEventListener("changed", this.namesChanged);
    this.unsubscribe();
  }

  private readonly namesChanged = (): void => {
    this.searchTexts = new WeakMap();
    this.rows = [...this.rows]; // every row that is in sight is drawn again
  };

  /** The latest events that are not known yet. Events that arrive during the request are later ones. */
  private async load({ sequence }: Snapshot): Promise<void> {
    if (sequence < (this.rows[0]?.sequence ?? 0)) this.rows = []; // another record than before
    const after = Math.max(this.rows[0]?.sequence ?? 0, sequence - RECENT, 0);
    const events = await fetchEvents(after, sequence);
    events.forEach(rememberActor);
    this.rows = withoutDuplicateFailures(mergeRows(events, this.rows)).slice(0, KEPT);
  }

  /** A query may return events that the feed has not delivered yet. */
  private add(rows: FeedRow[]): void {
    rows.forEach(rememberActor);
    const newest = this.rows[0]?.sequence ?? 0;
    const later = rows.filter((row) => row.sequence > newest);
    this.rows = withoutDuplicateFailures([...later.toReversed(), ...this.rows]).slice(0, KEPT);
  }

  private get filtered(): FeedRow[] {
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = AREAS.find(([area]) => area === this.area)?.[1] ?? [""];
    return (this.paused ?? this.rows).filter(
      (row) =>
        kinds.some((it) => row.event.kind.startsWith(it)) &&
        (!this.actor || eventActor(row) === this.actor) &&
        words.every((word) => this.searchText(row).includes(word)),
    );
  }

  private searchText(row: FeedRow): string {
    const { kind, session = "", text = "" } = row.event;
    const known = this.searchTexts.get(row);
    const words = known ?? `${kind} ${session} ${eventActor(row)} ${eventText(row)} ${text}`.toLowerCase();
    if (known === undefined) this.searchTexts.set(row, words);
    return words;
  }

  override render() {
    const found = this.filtered;
    return html`
      <form class="bar" role="search" @submit=${(event: Event) => event.preventDefault()}>
        <label
          ><span class="unseen">${t("Find")}</span>
          <input
            id="find"
            type="search"
            placeholder=${t("Search activity")}
            .value=${this.query}
            @input=${(event: InputEvent) => (this.query = (event.target as HTMLInputElement).value)}
        /></label>
        <label
          ><span class="unseen">${t("Area")}</span>
          <select id="area" @change=${(event: Event) => (this.area = (event.target as HTMLSelectElement).value)}>
            <option value="">${t("everything")}</option>
            ${AREAS.map(([area]) => html`<option value=${area}>${t(area)}</option>`)}
          </select></label
        >
        <label
          ><span class="unseen">${t("Actor")}</span>
          <select id="by" @change=${(event: Event) => (this.actor = (event.target as HTMLSelectElement).value)}>
            <option value="">${t("everyone")}</option>
            ${this.actors.map((name) => html`<option value=${name} .selected=${name === this.actor}>${name}</option>`)}
          </select></label
        >
        <button type="button" aria-pressed=${this.paused !== null} @click=${this.togglePause}>
          ${this.paused ? t("Resume ({count} new)", { count: this.newCount }) : t("Pause the list")}
        </button>
        <span class="quiet count" role="status">${t("events: {count}", { count: found.length })}</span>
      </form>
      ${
        found.length
          ? html`<dragoman-rows
              id="events"
              .rows=${found}
              .height=${32}
              .keyOf=${({ sequence }: FeedRow) => sequence}
              .renderRow=${this.renderRow}
            ></dragoman-rows>`
          : html`<p class="empty">${this.rows.length ? t("No matches.") : t("No activity yet.")}</p>`
      }
      ${this.renderDetail(found)}
    `;
  }

  /** All actors in the list, and the selected one even if it has no events left. */
  private get actors(): string[] {
    const names = new Set((this.paused ?? this.rows).map(eventActor));
    return [...names.add(this.actor)].filter(Boolean).sort();
  }

  private get newCount(): number {
    const seen = this.paused?.[0]?.sequence ?? 0;
    return this.rows.filter(({ sequence }) => sequence > seen).length;
  }

  private togglePause(): void {
    this.paused = this.paused ? null : this.rows;
  }

  private readonly renderRow = (row: FeedRow) => {
    const { sequence, event } = row;
    return html`<button
      class="plain row ${sequence === this.expanded ? "opened" : ""}"
      aria-expanded=${sequence === this.expanded}
      @click=${() => (this.expanded = this.expanded === sequence ? -1 : sequence)}
      ><span class="number">${sequence}</span><time>${rowTime(row.at_ns)}</time
      ><span class="kind" title=${event.kind}>${areaOf(event.kind)}</span><span class="who">${eventActor(row)}</span
      ><span class="text">${eventText(row)}</span></button
    >`;
  };

  private renderDetail(found: FeedRow[]) {
    const row = found.find(({ sequence }) => sequence === this.expanded);
    if (!row) return nothing;
    const { event } = row;
    return html`<aside aria-label=${t("Details")}>
      <div class="head">
        <strong class="mono">${event.kind}</strong>
        <span class="quiet">${dateAndTime(row.at_ns / 1e6)} ${eventActor(row)} ${event.session ?? ""}</span>
        <button class="plain" @click=${() => (this.expanded = -1)}>${t("Close")}</button>
      </div>
      <p>${eventText(row)}</p>
      <pre>${JSON.stringify(event.body ?? {}, null, 2)}</pre>
    </aside>`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 0.5rem;
        align-items: center;
        padding: 0.6rem 1rem;
      }
      #find {
        width: 18rem;
      }
      .count {
        margin-left: auto;
        font-size: 0.9rem;
      }
      dragoman-rows {
        flex: 1;
        min-height: 0;
        border-top: 1px solid var(--line);
        background: var(--card);
      }
      button.row {
        display: grid;
        grid-template-columns: 4rem 5rem 6rem 13rem 1fr;
        gap: 0.8rem;
        align-items: center;
        width: 100%;
        height: 32px;
        padding: 0 1rem;
        border: 0;
        border-bottom: 1px solid var(--line);
        border-radius: 0;
        text-align: left;
        font: 0.85rem/1.6 var(--mono);
      }
      button.row:hover,
      button.row.opened {
        background: var(--raised);
      }
      .row > * {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .number {
        text-align: right;
      }
      .number,
      time {
        color: var(--quiet);
      }
      .kind {
        color: var(--accent);
      }
      .who {
        color: var(--quiet);
      }
      aside {
        max-height: 45%;
        overflow: auto;
        border-top: 2px solid var(--accent);
        background: var(--card);
        padding: 0.6rem 1rem;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        gap: 0.3rem 1rem;
        align-items: center;
      }
      .head button {
        margin-left: auto;
      }
      pre {
        margin: 0.4rem 0;
        font: 0.85rem/1.45 var(--mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      @media (max-width: 40rem) {
        #find {
          width: 100%;
        }
        button.row {
          grid-template-columns: 4.6rem 6rem 1fr;
          padding: 0 0.6rem;
          gap: 0.5rem;
        }
        .who {
          order: 1;
        }
        .kind,
        .text {
          order: 2;
        }
        .number,
        .row:not(:has(.text:empty)) .kind,
        .text:empty {
          display: none;
        } /* a sentence says it better */
      }
    `,
  ];
}

/** One word per kind; a kind that is newer than this page is shown by its own name. */
function areaOf(kind: string): string {
  const area = AREAS.find(([, kinds]) => kinds.some((it) => kind.startsWith(it)))?.[0];
  return area ? t(area) : kind;
}

function rowTime(atNs: number): string {
  return timeOfDay(atNs / 1e6);
}

function mergeRows(some: FeedRow[], others: FeedRow[]): FeedRow[] {
  const all = new Map([...some, ...others].map((row) => [row.sequence, row]));
  return [...all.values()].toSorted((a, b) => b.sequence - a.sequence);
}
