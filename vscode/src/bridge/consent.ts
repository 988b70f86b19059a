/** What a person lets agents do: once, always or never. A "never" is kept, and nobody is asked again. */
import { Refusal } from "./link";
import { plain, SHOWN_WHOLE } from "./plain";

export type Answer = "once" | "always" | "never" | undefined;

export interface Memory {
  get<T>(key: string): T | undefined;
  update(key: string, value: unknown): PromiseLike<void>;
}

const PLACE = "dragoman.allowed";
const MOST_EXACT = 100;

function place(kind: string, exactly: string): string {
  return exactly ? `${kind} ${exactly}` : kind;
}

export class Consent {
  constructor(
    private readonly memory: Memory,
    private readonly ask: (words: string) => PromiseLike<Answer>,
    private readonly isTrusted: () => boolean,
  ) {}

  /** In a workspace that is not trusted nobody is asked anything: what is asked comes from what lies in there. */
  requireTrust(): void {
    if (!this.isTrusted()) throw new Refusal("not_trusted", "the workspace is not trusted there");
  }

  /** Passes where it is allowed; who closes the question says no, this time. One that was withdrawn does nothing late.
   * `exactly` is what "always" is about, where that is less than the kind: whatever differs from it asks anew. */
  async require(kind: string, words: string, signal?: AbortSignal, exactly = ""): Promise<void> {
    this.requireTrust();
    const answer = this.answered(kind, exactly) ?? (await this.asked(plain(words)));
    if (answer === "always") await this.keep(place(kind, exactly), answer);
    if (answer === "never") await this.keep(kind, answer);
    if (signal?.aborted) {
      if (answer === "once") this.whenLate();
      throw new Refusal("withdrawn", "nobody waits for it any more");
    }
    if (answer !== "once" && answer !== "always") throw new Refusal("not_allowed", kind);
  }

  private async asked(question: string): Promise<Answer> {
    if (question.length > SHOWN_WHOLE) throw new Refusal("too_long", "the person could not see all of what is asked");
    return this.ask(question);
  }

  /** What goes on by what was allowed ends with it. */
  whenForgotten: () => void = () => undefined;

  /** Allowed once, when nobody waited for it any more: the person would wait for something to happen. */
  whenLate: () => void = () => undefined;

  isAlways(kind: string, exactly: string): boolean {
    return this.answered(kind, exactly) === "always";
  }

  isNever(kind: string): boolean {
    return this.kept()[kind] === "never";
  }

  async forget(): Promise<void> {
    await this.memory.update(PLACE, undefined);
    this.whenForgotten();
  }

  private answered(kind: string, exactly: string): Answer {
    const kept = this.kept();
    return kept[kind] === "never" ? "never" : kept[place(kind, exactly)];
  }

  /** Of what was allowed exactly as it was, the oldest is forgotten in the end. */
  private async keep(kind: string, answer: Answer): Promise<void> {
    const { [kind]: _, ...others } = this.kept();
    const exact = Object.keys(others).filter((it) => it.includes(" "));
    for (const old of exact.slice(0, Math.max(0, exact.length - MOST_EXACT))) delete others[old];
    await this.memory.update(PLACE, { ...others, [kind]: answer });
  }

  private kept(): Record<string, Answer> {
    return this.memory.get<Record<string, Answer>>(PLACE) ?? {};
  }
}
