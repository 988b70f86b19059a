/** The lines of a file, read as they come into sight. */
import { call } from "../link";

const AT_ONCE = 400;
const AGAIN_MS = 1000;

export class Text {
  total = 0;
  trouble = "";
  private readonly pages = new Map<number, string[] | null>();

  constructor(
    readonly path: string,
    private readonly changed: () => void,
  ) {}

  /** One line; `undefined` while it is on its way. */
  line(index: number): string | undefined {
    const page = Math.floor(index / AT_ONCE);
    if (!this.pages.has(page)) void this.read(page);
    return this.pages.get(page)?.[index % AT_ONCE];
  }

  private async read(page: number): Promise<void> {
    this.pages.set(page, null);
    const asked = { file_path: this.path, line: page * AT_ONCE + 1, count: AT_ONCE };
    try {
      const { data, text, is_error } = await call("get_source", asked);
      if (is_error) this.trouble = String(data["message"] ?? text);
      else {
        this.pages.set(page, data["lines"] as string[]);
        this.total = data["total_lines"] as number;
      }
    } catch {
      setTimeout(() => void this.read(page), AGAIN_MS); // the daemon does not answer just now
    }
    this.changed();
  }
}
