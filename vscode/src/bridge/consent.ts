/** What a person lets agents do: once, always or never. A "never" is kept, and nobody is asked again. */
import { Refusal } from "./link";
import { plain, SHOWN_WHOLE } from "./plain";

export type Answer = "once" | "always" | "never" | undefined;

export interface Memory {
  get<T>(key: string): T | undefined;
  update(key: string, value: unknown): PromiseLike<void>;
}

const PLACE = "dragoman.allowed";

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

  /** Passes where it is allowed; who closes the question says no, this time. One that was withdrawn does nothing late. */
  async require(kind: string, words: string, signal?: AbortSignal): Promise<void> {
    this.requireTrust();
    const answer = this.kept()[kind] ?? (await this.asked(plain(words)));
    if (answer === "always" || answer === "never") await this.memory.update(PLACE, { ...this.kept(), [kind]: answer });
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

  isNever(kind: string): boolean {
    return this.kept()[kind] === "never";
  }

  async forget(): Promise<void> {
    await this.memory.update(PLACE, undefined);
    this.whenForgotten();
  }

  private kept(): Record<string, Answer> {
    return this.memory.get<Record<string, Answer>>(PLACE) ?? {};
  }
}
