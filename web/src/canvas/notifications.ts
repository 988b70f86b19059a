/** Notices about what agents drew or ask on the canvas while another view is open. */
import { request, feed, t, ignoreUnreachable, type FeedRow } from "../link";
import { coalesced } from "../parts/coalesced";
import { actorNames, actorName } from "../parts/actors";

export interface SurfaceSummary {
  drawer: string;
  surface_id: string;
  title: string;
  asking: "no" | "open" | "closed";
}

export interface AnsweredQuestion extends SurfaceSummary {
  isCancelled: boolean;
}

/** How many answers are still shown. */
const SHOWN_ANSWERS = 3;

class CanvasNotifications extends EventTarget {
  /** Questions that were answered, here or in another window, until the notice is dismissed. */
  answered: readonly AnsweredQuestion[] = [];
  private newest: SurfaceSummary | null = null;
  private surfaces: SurfaceSummary[] = [];
  /** Drawings that have not been seen yet, without those from before this page was opened. */
  private unseen = new Set<string>();
  private isNew = true;
  private watched = false;

  constructor() {
    super();
    const read = () => void this.read().catch(ignoreUnreachable);
    feed.subscribe("canvas.", { events: (rows) => (this.handleEvents(rows), read()), reset: read });
    actorNames.addEventListener("changed", () => this.changed());
  }

  get open(): readonly SurfaceSummary[] {
    return this.surfaces.filter(({ asking }) => asking === "open");
  }

  dismiss(it: AnsweredQuestion): void {
    this.answered = this.answered.filter((other) => other !== it);
    this.changed();
  }

  /** What is answered is taken away at once: it is known from before. */
  private handleEvents(rows: readonly FeedRow[]): void {
    for (const { event } of rows.filter((row) => row.event.kind === "canvas.action_taken")) {
      const { drawer, surface, context } = (event.body ?? {}) as {
        drawer?: string;
        surface?: string;
        context?: Record<string, unknown>;
      };
      const question = this.open.find((it) => it.drawer === drawer && it.surface_id === surface);
      if (!question) continue;
      this.answered = [{ ...question, isCancelled: context?.["values"] === undefined }, ...this.answered].slice(
        0,
        SHOWN_ANSWERS,
      );
      this.surfaces = this.surfaces.filter((it) => it !== question);
    }
    this.changed();
  }

  /** The newest of it, in words. */
  get newestText(): string {
    return this.newest ? notificationText(this.newest) : "";
  }

  /** A question stays until it is answered, a drawing until the canvas is opened. */
  get count(): number {
    return this.surfaces.filter((it) => it.asking === "open" || this.unseen.has(key(it))).length;
  }

  set isWatched(watched: boolean) {
    this.watched = watched;
    if (!watched || !this.unseen.size) return;
    this.unseen.clear();
    this.changed();
  }

  private readonly read = coalesced(async () => {
    this.update((await request<{ surfaces: SurfaceSummary[] }>("/api/canvas/list")).surfaces);
  });

  private update(listed: SurfaceSummary[]): void {
    const known = new Set(this.surfaces.map(key));
    const added = listed.filter((it) => !known.has(key(it)));
    const drawn = this.isNew || this.watched ? [] : added.filter(({ asking }) => asking !== "open");
    const asks = added.filter(({ asking }) => asking === "open");
    for (const it of drawn) this.unseen.add(key(it));
    this.newest = asks[0] ?? drawn[0] ?? this.newest; // they come newest first
    [this.surfaces, this.isNew] = [listed, false];
    this.changed();
  }

  private changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

function notificationText({ drawer, surface_id, title, asking }: SurfaceSummary): string {
  const values = { drawer: actorName(drawer), name: title || surface_id };
  return asking === "open"
    ? t("{drawer} asks on the canvas: {name}", values)
    : t("{drawer} drew on the canvas: {name}", values);
}

function key({ drawer, surface_id }: SurfaceSummary): string {
  return `${drawer}/${surface_id}`;
}

export const canvasNotifications = new CanvasNotifications();
