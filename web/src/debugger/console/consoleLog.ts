/** What people and agents evaluated in each session, and what came of it. */
import type { FeedRow } from "../../link";
import { actorName } from "../../parts/actors";

const KEPT = 300;

export interface Evaluation {
  key: string;
  session: string;
  at: number;
  actor: string;
  isOwn: boolean;
  expression: string;
  result: string;
  type: string;
  /** Nonzero if the result opens, at the stop at which it was evaluated. */
  reference: number;
  stop: string;
  isError: boolean;
  isPending: boolean;
}

const PLAIN = { type: "", reference: 0, stop: "", isError: false, isPending: false };

export class ConsoleLog {
  all: Evaluation[] = [];
  private count = 0;

  of(session: string): Evaluation[] {
    return this.all.filter((it) => it.session === session);
  }

  /** The page's own are known already, with more than the feed tells; others may have come before. */
  add(rows: readonly FeedRow[]): void {
    const known = new Set(this.all.map(({ key }) => key));
    const fresh = rows
      .filter(({ event, sequence }) => event.kind === "debug.evaluated" && !known.has(String(sequence)))
      .filter(({ event }) => event.body?.["by"] !== "page");
    if (!fresh.length) return;
    const added = fresh.map(({ sequence, at_ns, event: { session = "", body = {} } }) => ({
      ...PLAIN,
      key: String(sequence),
      session,
      at: at_ns / 1e6,
      actor: actorName(body["by"]),
      isOwn: false,
      expression: String(body["expression"] ?? ""),
      result: String(body["result"] ?? ""),
    }));
    this.all = [...this.all, ...added].sort((a, b) => a.at - b.at).slice(-KEPT);
  }

  /** A person's own, whose result comes later. */
  begin(session: string, expression: string, stop: string): Evaluation {
    const own: Evaluation = {
      ...PLAIN,
      key: `own-${++this.count}`,
      session,
      at: Date.now(),
      actor: actorName("page"),
      isOwn: true,
      expression,
      result: "",
      stop,
      isPending: true,
    };
    this.all = [...this.all, own].slice(-KEPT);
    return own;
  }

  finish(own: Evaluation, outcome: Partial<Evaluation>): void {
    this.all = this.all.map((it) => (it.key === own.key ? { ...it, ...outcome, isPending: false } : it));
  }

  clear(session: string): void {
    this.all = this.all.filter((it) => it.session !== session);
  }
}
