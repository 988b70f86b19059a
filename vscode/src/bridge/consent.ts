/**
 * The permissions that a person gives agents: once, always or never. "Never" is stored, and the question is not asked
 * again.
 */
import { RpcError } from "./rpcConnection";
import { notificationText, MAX_NOTIFICATION } from "./notificationText";

export type Answer = "once" | "always" | "never" | undefined;

export interface Memory {
  get<T>(key: string): T | undefined;
  update(key: string, value: unknown): PromiseLike<void>;
}

const STORAGE_KEY = "dragoman.allowed";
const MOST_EXACT = 100;

function permissionKey(kind: string, exactly: string): string {
  return exactly ? `${kind} ${exactly}` : kind;
}

export class Consent {
  constructor(
    private readonly memory: Memory,
    private readonly ask: (words: string) => PromiseLike<Answer>,
    private readonly isTrusted: () => boolean,
  ) {}

  /** In a workspace that is not trusted, no question is asked: its text would come from that workspace. */
  requireTrust(): void {
    if (!this.isTrusted()) throw new RpcError("not_trusted", "the workspace is not trusted there");
  }

  /**
   * Resolves if it is allowed. Closing the question means no, this time. A withdrawn question has no late effect.
   * `exactly` limits "always" to this text, if that is less than the kind: a different text asks again.
   */
  async require(kind: string, words: string, signal?: AbortSignal, exactly = ""): Promise<void> {
    this.requireTrust();
    const answer = this.storedAnswer(kind, exactly) ?? (await this.askQuestion(notificationText(words)));
    if (answer === "always") await this.store(permissionKey(kind, exactly), answer);
    if (answer === "never") await this.store(kind, answer);
    if (signal?.aborted) {
      if (answer === "once") this.whenLate();
      throw new RpcError("withdrawn", "nobody waits for it any more");
    }
    if (answer !== "once" && answer !== "always") throw new RpcError("not_allowed", kind);
  }

  private async askQuestion(question: string): Promise<Answer> {
    if (question.length > MAX_NOTIFICATION)
      throw new RpcError("too_long", "the person could not see all of what is asked");
    return this.ask(question);
  }

  /** Whatever depends on a permission ends with it. */
  whenForgotten: () => void = () => undefined;

  /** Allowed once, after the request had ended: the person expects something to happen, and gets a message. */
  whenLate: () => void = () => undefined;

  isAlways(kind: string, exactly: string): boolean {
    return this.storedAnswer(kind, exactly) === "always";
  }

  isNever(kind: string): boolean {
    return this.stored()[kind] === "never";
  }

  async forget(): Promise<void> {
    await this.memory.update(STORAGE_KEY, undefined);
    this.whenForgotten();
  }

  private storedAnswer(kind: string, exactly: string): Answer {
    const kept = this.stored();
    return kept[kind] === "never" ? "never" : kept[permissionKey(kind, exactly)];
  }

  /** Permissions for exact requests are bounded: the oldest is dropped. */
  private async store(kind: string, answer: Answer): Promise<void> {
    const { [kind]: _, ...others } = this.stored();
    const exact = Object.keys(others).filter((it) => it.includes(" "));
    for (const old of exact.slice(0, Math.max(0, exact.length - MOST_EXACT))) delete others[old];
    await this.memory.update(STORAGE_KEY, { ...others, [kind]: answer });
  }

  private stored(): Record<string, Answer> {
    return this.memory.get<Record<string, Answer>>(STORAGE_KEY) ?? {};
  }
}
