/**
 * Questions of agents on the canvas: shown with the agent's name, and updated when they are answered. Nothing here
 * knows the editor.
 */
import type { Api } from "../daemon/api";
import type { FeedRow } from "../daemon/status";
import type { Translate } from "../daemon/sessionLabel";
import { notificationText } from "../bridge/notificationText";

interface SurfaceSummary {
  drawer: string;
  surface_id: string;
  title: string;
  asking: "no" | "open" | "closed";
}

interface ActionBody {
  drawer?: string;
  surface?: string;
  context?: { values?: unknown };
}

const LONGEST = 200;

export class Questions {
  private readonly known = new Map<string, string>();

  constructor(
    private readonly api: () => Api | undefined,
    private readonly t: Translate,
    /** The person decides whether to open it now. */
    private readonly ask: (words: string) => Promise<void>,
    private readonly confirm: (words: string) => void,
  ) {}

  /** Whether a new surface is a question: drawings have another notice. */
  async handleEvents(events: readonly FeedRow["event"][]): Promise<boolean> {
    for (const { kind, body } of events) if (kind === "canvas.action_taken") this.answered(body ?? {});
    return events.some(({ kind }) => kind === "canvas.surface_updated") && (await this.readNew());
  }

  /** Whether a question has not been announced yet, including those from before the view was opened. */
  async readNew(): Promise<boolean> {
    const open = (await this.read()).filter(({ asking }) => asking === "open");
    const added = open.filter((it) => !this.known.has(key(it.drawer, it.surface_id)));
    const names = added.length ? await this.names() : {};
    for (const it of added) {
      const words = `${shortText(names[it.drawer] || this.ownName(it.drawer))}: ${shortText(it.title || it.surface_id)}`;
      this.known.set(key(it.drawer, it.surface_id), words);
      void this.ask(this.t("A question for you. {0}", words));
    }
    return added.length > 0;
  }

  private answered({ drawer = "", surface = "", context }: ActionBody): void {
    const words = this.known.get(key(drawer, surface));
    if (words === undefined) return;
    this.known.delete(key(drawer, surface));
    this.confirm(
      context?.values === undefined
        ? this.t("You closed the question. {0}", words)
        : this.t("You answered. {0}", words),
    );
  }

  private async read(): Promise<SurfaceSummary[]> {
    const answer = await this.api()
      ?.get<{ surfaces: SurfaceSummary[] }>("/api/canvas/list")
      .catch(() => undefined);
    const listed = answer?.surfaces ?? [];
    const current = new Set(listed.map((it) => key(it.drawer, it.surface_id)));
    for (const gone of [...this.known.keys()].filter((it) => answer && !current.has(it))) this.known.delete(gone);
    return listed;
  }

  /** A client without a name: a part of Dragoman, or an agent that gives none. */
  private ownName(drawer: string): string {
    if (drawer === "shell") return this.t("the command line");
    return drawer === "chat" ? this.t("the chat") : this.t("an agent");
  }

  private async names(): Promise<Record<string, string>> {
    return (
      (
        await this.api()
          ?.get<{ names: Record<string, string> }>("/api/names")
          .catch(() => undefined)
      )?.names ?? {}
    );
  }
}

function shortText(text: string): string {
  return notificationText(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

function key(drawer: string, surface: string): string {
  return `${drawer}\0${surface}`;
}
