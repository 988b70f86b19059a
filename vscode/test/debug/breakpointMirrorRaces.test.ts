/** Agents and a person change one set at once, and every message takes its time: whatever the order, all see the same
 * in the end, the last writer wins, and what a side only hears of is never said again as its own. */
import { expect, test } from "vitest";

import {
  semanticKey,
  BreakpointMirror,
  type Changes,
  type OthersBreakpoint,
  type EditRequest,
} from "../../src/debug/breakpointMirror";

const RUNS = 400;
const ACTS = 60;

class Dice {
  constructor(private state: number) {}

  below(count: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * count);
  }

  of<T>(all: readonly T[]): T | undefined {
    return all[this.below(all.length)];
  }
}

/** A breakpoint in the editor. */
class Mark {
  constructor(public now: OthersBreakpoint) {}
}

type Asked = { wish: EditRequest; isGone: boolean };
type Heard = { session: string; list: OthersBreakpoint[]; answers?: EditRequest; isRefused?: boolean };

/** The daemon's book with its connections, one for each session; each keeps its order. */
class Daemon {
  readonly book = new Map<number, OthersBreakpoint>();
  readonly writes: string[] = [];
  private last = 0;
  private readonly toldTo = new Map<string, string>();
  readonly out = new Map<string, Heard[]>([
    ["s", []],
    ["t", []],
  ]);

  set(line: number): void {
    const id = ++this.last;
    this.write("agent", id, { id, owner: "agent", path: "/w/a.py", line });
  }

  write(by: string, id: number, now: OthersBreakpoint | undefined): void {
    this.writes.push(`${by} ${id} ${semanticKey(now)}`);
    if (now) this.book.set(id, now);
    else this.book.delete(id);
  }

  /** As the face does: what is, compared with what was told last. */
  tell(session: string): void {
    const list = [...this.book.values()];
    if (this.toldTo.get(session) === JSON.stringify(list)) return;
    this.toldTo.set(session, JSON.stringify(list));
    this.out.get(session)!.push({ session, list });
  }

  serve({ wish, isGone }: Asked): void {
    const { id } = wish.breakpoint;
    const isRefused = !isGone && !this.book.has(id);
    if (!isRefused) this.write("person", id, isGone ? undefined : wish.breakpoint);
    const list = [...this.book.values()];
    if (!isRefused) this.toldTo.set(wish.session, JSON.stringify(list));
    this.out.get(wish.session)!.push({ session: wish.session, list, answers: wish, isRefused });
  }
}

class Editor {
  readonly marks = new Set<Mark>();
  /** What the editor has yet to tell us of, our own doings among it. */
  readonly events: { mark: Mark; kind: "added" | "removed" | "changed" }[] = [];
  readonly asking: Asked[] = [];
  readonly mirror = new BreakpointMirror<Mark>();
  acts = 0;

  hear({ session, list, answers, isRefused }: Heard): void {
    this.show(
      answers ? this.mirror.completeEdit(answers, isRefused ? undefined : list) : this.mirror.setList(session, list),
    );
  }

  show({ added, removed }: Changes<Mark>): void {
    for (const mark of removed) this.remove(mark);
    for (const told of added) {
      const mark = new Mark(told);
      this.mirror.addMark(told, mark);
      this.marks.add(mark);
      this.events.push({ mark, kind: "added" });
    }
  }

  remove(mark: Mark): void {
    if (this.marks.delete(mark)) this.events.push({ mark, kind: "removed" });
  }

  alter(mark: Mark, change: Partial<OthersBreakpoint>): void {
    mark.now = { ...mark.now, ...change };
    this.events.push({ mark, kind: "changed" });
  }

  notice(): void {
    const { mark, kind } = this.events.shift()!;
    if (kind === "removed") this.ask(this.mirror.removedByPerson(mark), true);
    if (kind !== "changed") return;
    const { line, condition = "", enabled = true } = mark.now;
    this.ask(
      this.mirror.changedByPerson(mark, { line, column: null, condition, hit_condition: "", log_message: "", enabled }),
      false,
    );
  }

  private ask(wish: EditRequest | undefined, isGone: boolean): void {
    if (wish) this.asking.push({ wish, isGone });
  }
}

function moves(daemon: Daemon, editor: Editor): (() => void)[] {
  const deliveries: (() => void)[] = [...daemon.out.values()]
    .filter((it) => it.length)
    .map((it) => () => editor.hear(it.shift()!));
  if (editor.asking.length) deliveries.push(() => daemon.serve(editor.asking.shift()!));
  if (editor.events.length) deliveries.push(() => editor.notice());
  deliveries.push(
    () => daemon.tell("s"),
    () => daemon.tell("t"),
  );
  return deliveries;
}

function act(dice: Dice, daemon: Daemon, editor: Editor): void {
  const [theirs, mark] = [dice.of([...daemon.book.values()]), dice.of([...editor.marks])];
  const kinds: (() => void)[] = [
    () => daemon.set(1 + dice.below(5)),
    () => theirs && daemon.write("agent", theirs.id, undefined),
    () => theirs && daemon.write("agent", theirs.id, { ...theirs, condition: `x > ${dice.below(3)}` }),
    () => mark && (editor.acts++, editor.remove(mark)),
    () => mark && (editor.acts++, editor.alter(mark, { enabled: !(mark.now.enabled ?? true) })),
    () => mark && (editor.acts++, editor.alter(mark, { condition: `y > ${dice.below(3)}` })),
  ];
  kinds[dice.below(kinds.length)]!();
}

function settle(dice: Dice, daemon: Daemon, editor: Editor): void {
  for (let idle = 0; idle < 20;) {
    const waiting = [...daemon.out.values()].some((it) => it.length) || editor.asking.length || editor.events.length;
    dice.of(moves(daemon, editor))!();
    idle = waiting ? 0 : idle + 1;
  }
}

test("in every order the window ends up with what the book has, and echoes are said by nobody", () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const [dice, daemon, editor] = [new Dice(seed), new Daemon(), new Editor()];
    for (let step = 0; step < ACTS; step++) {
      if (dice.below(3) === 0) act(dice, daemon, editor);
      else dice.of(moves(daemon, editor))!();
    }
    settle(dice, daemon, editor);
    const [shown, kept] = [
      [...editor.marks].map(({ now }) => `${now.id} ${semanticKey(now)}`),
      [...daemon.book.values()].map((it) => `${it.id} ${semanticKey(it)}`),
    ];
    expect(shown.sort(), `seed ${seed}`).toEqual(kept.sort());
    expect(daemon.writes.filter((it) => it.startsWith("person")).length, `seed ${seed}`).toBeLessThanOrEqual(
      editor.acts,
    );
  }
});

test("without a person's act nothing is ever asked of the daemon, however it is told", () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const [dice, daemon, editor] = [new Dice(seed), new Daemon(), new Editor()];
    for (let step = 0; step < ACTS; step++) {
      if (dice.below(3) === 0) daemon.set(1 + dice.below(5));
      else if (dice.below(4) === 0) daemon.write("agent", dice.of([...daemon.book.keys()]) ?? 0, undefined);
      else dice.of(moves(daemon, editor))!();
      expect(editor.asking, `seed ${seed}`).toEqual([]);
    }
  }
});

test("the person's word, said last, stands", () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const [dice, daemon, editor] = [new Dice(seed), new Daemon(), new Editor()];
    for (let count = 0; count < 4; count++) daemon.set(count + 1);
    settle(dice, daemon, editor);
    const mark = dice.of([...editor.marks])!;
    if (dice.below(2)) daemon.write("agent", mark.now.id, { ...mark.now, condition: "first" });
    if (dice.below(2)) daemon.tell("t");
    editor.remove(mark);
    editor.notice();
    settle(dice, daemon, editor);
    expect(daemon.book.has(mark.now.id), `seed ${seed}`).toBe(false);
    expect(editor.marks.has(mark)).toBe(false);
  }
});
