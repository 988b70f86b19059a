/** Everything that every agent and person did, as it happens, newest first. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { feed, t, ignoreUnreachable, type FeedRow, type Snapshot } from "../link";
import { fetchEvents } from "../link/feed";
import { dateAndTime, timeOfDay } from "../parts/time";
import "../parts/rows";
import { actorNames, rememberActor } from "../parts/actors";
import { icon } from "../parts/icons";
import {
  activityLines,
  addressOf,
  groupRows,
  hasFailed,
  iconOf,
  sessionTitles,
  type ActivityGroup,
  type ActivityLine,
} from "./activityRows";
import { activityStyles } from "./styles";
import "./agentUsage";
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
  @state() private session = "";
  @state() private onlyFailed = false;
  @state() private folded: ReadonlySet<string> = new Set();
  @state() private expanded = -1;
  @state() private paused: FeedRow[] | null = null;
  private unsubscribe = () => {};
  /** The searchable text of each event: computed once, and again when a name becomes known. */
  private searchTexts = new WeakMap<FeedRow, string>();
  /** Found once for each list of rows: every head of a group in sight asks for it. */
  private titles: ReadonlyMap<string, string> = new Map();

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
        (!this.session || row.event.session === this.session) &&
        (!this.onlyFailed || hasFailed(row)) &&
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

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("rows")) this.titles = sessionTitles(this.rows);
  }

  override render() {
    const found = this.filtered;
    return html`
      <dragoman-agent-usage
        .chosen=${this.actor}
        @chosen=${(event: CustomEvent<string>) => (this.actor = event.detail)}
      ></dragoman-agent-usage>
      ${this.bar(found.length)} ${found.length ? this.list(found) : this.empty()} ${this.renderDetail(found)}
    `;
  }

  private bar(count: number) {
    return html`<form class="bar" role="search" @submit=${(event: Event) => event.preventDefault()}>
      <label
        ><span class="unseen">${t("Find")}</span>
        <input
          id="find"
          type="search"
          placeholder=${t("Search activity")}
          .value=${this.query}
          @input=${(event: InputEvent) => (this.query = (event.target as HTMLInputElement).value)}
      /></label>
      ${this.choice(
        "area",
        t("Area"),
        t("everything"),
        AREAS.map(([area]) => [area, t(area)] as const),
        this.area,
        (it) => (this.area = it),
      )}
      ${this.choice(
        "by",
        t("Actor"),
        t("everyone"),
        this.actors.map((name) => [name, name] as const),
        this.actor,
        (it) => (this.actor = it),
      )}
      ${this.choice(
        "session",
        t("Session"),
        t("all sessions"),
        [...this.titles].map(([id, title]) => [id, title || id] as const),
        this.session,
        (it) => (this.session = it),
      )}
      <label class="check"
        ><input
          id="failed"
          type="checkbox"
          .checked=${this.onlyFailed}
          @change=${(event: Event) => (this.onlyFailed = (event.target as HTMLInputElement).checked)}
        />${t("only what failed")}</label
      >
      <button type="button" aria-pressed=${this.paused !== null} @click=${this.togglePause}>
        ${this.paused ? t("Resume ({count} new)", { count: this.newCount }) : t("Pause the list")}
      </button>
      <span class="quiet count" role="status">${t("events: {count}", { count })}</span>
    </form>`;
  }

  private choice(
    id: string,
    label: string,
    none: string,
    choices: readonly (readonly [string, string])[],
    chosen: string,
    choose: (value: string) => void,
  ) {
    return html`<label
      ><span class="unseen">${label}</span>
      <select id=${id} @change=${(event: Event) => choose((event.target as HTMLSelectElement).value)}>
        <option value="">${none}</option>
        ${choices.map(([value, name]) => html`<option value=${value} .selected=${value === chosen}>${name}</option>`)}
      </select></label
    >`;
  }

  private list(found: FeedRow[]) {
    return html`<dragoman-rows
      id="events"
      .rows=${activityLines(groupRows(found, eventActor), this.folded)}
      .height=${32}
      .keyOf=${lineKey}
      .renderRow=${this.renderLine}
    ></dragoman-rows>`;
  }

  private empty() {
    if (!this.rows.length)
      return html`<div class="empty">
        <p>${t("Everything that agents and people do appears here, as it happens.")}</p>
        <a class="button" href="#start">${t("Connect an agent")}</a>
      </div>`;
    return html`<div class="empty">
      <p>${t("No matches.")}</p>
      <button @click=${this.showEverything}>${t("Show everything")}</button>
    </div>`;
  }

  private readonly showEverything = (): void => {
    Object.assign(this, { query: "", area: "", actor: "", session: "", onlyFailed: false });
  };

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

  private readonly renderLine = (line: ActivityLine) =>
    line.kind === "group" ? this.renderGroup(line.group, line.isFolded) : this.renderEvent(line.row, line.isInGroup);

  private renderGroup(group: ActivityGroup, isFolded: boolean) {
    const oldest = group.rows.at(-1)!;
    const title = this.titles.get(group.session) || areaOf(oldest.event.kind);
    return html`<button class="plain group" aria-expanded=${!isFolded} @click=${() => this.toggleGroup(group.key)}
      ><span class="arrow" aria-hidden="true">${isFolded ? "▸" : "▾"}</span>${icon(iconOf(oldest))}<b>${title}</b
      ><span class="who">${group.actor}</span
      ><span class="quiet size">${t("events: {count}", { count: group.rows.length })}</span
      ><time>${rowTime(oldest.at_ns)}</time></button
    >`;
  }

  private toggleGroup(key: string): void {
    const folded = new Set(this.folded);
    if (!folded.delete(key)) folded.add(key);
    this.folded = folded;
  }

  private renderEvent(row: FeedRow, isInGroup: boolean) {
    const { sequence, event } = row;
    const address = addressOf(row);
    return html`<div class="line ${isInGroup ? "inside" : ""}"
      ><button
        class="plain row ${sequence === this.expanded ? "opened" : ""}"
        aria-expanded=${sequence === this.expanded}
        @click=${() => (this.expanded = this.expanded === sequence ? -1 : sequence)}
        ><span class="number">${sequence}</span><time>${rowTime(row.at_ns)}</time
        ><span class="kind ${hasFailed(row) ? "failed" : ""}" title=${event.kind}
          >${icon(hasFailed(row) ? "cross" : iconOf(row))}<span class="area">${areaOf(event.kind)}</span></span
        ><span class="who">${eventActor(row)}</span><span class="text">${eventText(row)}</span></button
      >${address ? html`<a class="go" href=${address}>${t("Show")}</a>` : nothing}</div
    >`;
  }

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

  static override styles = [sharedStyles, activityStyles];
}

function lineKey(line: ActivityLine): unknown {
  return line.kind === "group" ? line.group.key : line.row.sequence;
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
