/** The lines of a file, read as they come into sight. */
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
    const asked = { file_path: this.path, line: page * AT_ONCE + 1, count: AT_ONCE };
    try {
      const { data, text, is_error } = await callIn(this.workspace, "get_source", asked);
      this.trouble = is_error ? String(data["message"] ?? text) : "";
      if (!is_error) {
        this.full = data["file_path"] as string;
        this.pages.set(page, data["lines"] as string[]);
        this.total = data["total_lines"] as number;
      }
    } catch {
      setTimeout(() => void this.read(page), AGAIN_MS); // the daemon does not answer just now
    }
    this.changed();
  }
}
