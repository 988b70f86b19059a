/** The lines of a file, read as they come into sight. */
import { Refused, type Answer } from "../link";
import { callIn } from "./tools";

const AT_ONCE = 400;
const AGAIN_MS = 1000;

export class Text {
  total = 0;
  trouble = "";
  /** What clicks beside its lines wished, until it is so. */
  readonly wishes = new Map<number, boolean>();
  /** Its whole path, as the daemon found it. */
  private full = "";
  private readonly pages = new Map<number, string[]>();
  private readonly asked = new Set<number>();
  private reads = 0;
  /** Of each page, which reading stands there: an answer that is older never comes last. */
  private readonly taken = new Map<number, number>();

  constructor(
    readonly path: string,
    public workspace: string,
    private readonly changed: () => void,
  ) {}

  is(path: string, workspace: string): boolean {
    const whole = (name: string) => (name.startsWith("/") ? name : `${workspace}/${name}`);
    return workspace === this.workspace && path !== "" && [whole(this.path), this.full].includes(whole(path));
  }

  /** One line; `undefined` while it is on its way. */
  line(index: number): string | undefined {
    const page = Math.floor(index / AT_ONCE);
    if (!this.asked.has(page)) void this.read(page);
    return this.pages.get(page)?.[index % AT_ONCE];
  }

  /** A file may have been edited since. What was read stands there until it is read again: nothing moves under a hand. */
  again(): void {
    this.asked.clear();
    this.changed();
  }

  private async read(page: number): Promise<void> {
    this.asked.add(page);
    const number = ++this.reads;
    const asked = { file_path: this.path, line: page * AT_ONCE + 1, count: AT_ONCE };
    try {
      const answer = await callIn(this.workspace, "get_source", asked);
      if (number > (this.taken.get(page) ?? 0)) this.take(page, answer);
      this.taken.set(page, Math.max(number, this.taken.get(page) ?? 0));
    } catch (error) {
      if (error instanceof Refused) this.trouble = error.message;
      else setTimeout(() => void this.read(page), AGAIN_MS); // the daemon does not answer just now
    }
    this.changed();
  }

  private take(page: number, { data, text, is_error }: Answer): void {
    this.trouble = is_error ? String(data["message"] ?? text) : "";
    if (is_error) return;
    this.full = data["file_path"] as string;
    this.pages.set(page, data["lines"] as string[]);
    this.total = data["total_lines"] as number;
  }
}
