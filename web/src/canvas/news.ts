/** What agents drew or ask on the canvas while the person looks elsewhere. */
import { ask, feed, t, unlessAway, type Row } from "../link";
import { anew } from "../parts/anew";
import { acquaintances, who } from "../parts/who";

export interface Listed {
  drawer: string;
  surface_id: string;
  title: string;
  asking: "no" | "open" | "closed";
}

export interface Answered extends Listed {
  isCancelled: boolean;
}

/** Answers that are still told. */
const TOLD_ANSWERS = 3;

class News extends EventTarget {
  /** What was answered, here or in another window, until somebody takes it away. */
  answered: readonly Answered[] = [];
  private newest: Listed | null = null;
  private listed: Listed[] = [];
  /** Drawings that nobody has looked at; none of those that were there before this page was. */
  private unseen = new Set<string>();
  private isNew = true;
  private watched = false;

  constructor() {
    super();
    const read = () => void this.read().catch(unlessAway);
    feed.subscribe("canvas.", { events: (rows) => (this.hear(rows), read()), reset: read });
    acquaintances.addEventListener("learned", () => this.changed());
  }

  get open(): readonly Listed[] {
    return this.listed.filter(({ asking }) => asking === "open");
  }

  forget(it: Answered): void {
    this.answered = this.answered.filter((other) => other !== it);
    this.changed();
  }

  /** What is answered is taken away at once: it is known from before. */
  private hear(rows: readonly Row[]): void {
    for (const { event } of rows.filter((row) => row.event.kind === "canvas.action_taken")) {
      const { drawer, surface, context } = (event.body ?? {}) as { drawer?: string; surface?: string; context?: Record<string, unknown> };
      const question = this.open.find((it) => it.drawer === drawer && it.surface_id === surface);
      if (!question) continue;
      this.answered = [{ ...question, isCancelled: context?.["values"] === undefined }, ...this.answered].slice(0, TOLD_ANSWERS);
      this.listed = this.listed.filter((it) => it !== question);
    }
    this.changed();
  }

  /** The newest of it, in words. */
  get told(): string {
    return this.newest ? words(this.newest) : "";
  }

  /** Questions wait until they are answered; drawings until the canvas is looked at. */
  get count(): number {
    return this.listed.filter((it) => it.asking === "open" || this.unseen.has(key(it))).length;
  }

  set isWatched(watched: boolean) {
    this.watched = watched;
    if (!watched || !this.unseen.size) return;
    this.unseen.clear();
    this.changed();
  }

  private readonly read = anew(async () => {
    this.take((await ask<{ surfaces: Listed[] }>("/api/canvas/list")).surfaces);
  });

  private take(listed: Listed[]): void {
    const known = new Set(this.listed.map(key));
    const added = listed.filter((it) => !known.has(key(it)));
    const drawn = this.isNew || this.watched ? [] : added.filter(({ asking }) => asking !== "open");
    const asks = added.filter(({ asking }) => asking === "open");
    for (const it of drawn) this.unseen.add(key(it));
    this.newest = asks[0] ?? drawn[0] ?? this.newest; // they come newest first
    [this.listed, this.isNew] = [listed, false];
    this.changed();
  }

  private changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

function words({ drawer, surface_id, title, asking }: Listed): string {
  const values = { drawer: who(drawer), name: title || surface_id };
  return asking === "open" ? t("{drawer} asks on the canvas: {name}", values) : t("{drawer} drew on the canvas: {name}", values);
}

function key({ drawer, surface_id }: Listed): string {
  return `${drawer}/${surface_id}`;
}

export const news = new News();
