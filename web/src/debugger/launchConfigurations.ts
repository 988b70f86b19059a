/** The configurations in a folder's launch.json. An editor or an agent may change the file while the page shows it. */
import type { Configuration } from "./toolResults";
import { callToolIn } from "./tools";

/** How often the file is read again while the view is visible. */
const AGAIN_MS = 2000;
/** Most folders have none, and nothing is wrong with them. */
const NONE = "no_launch_json";

export class LaunchConfigurations {
  /** Null until they are read. */
  all: Configuration[] | null = null;
  /** Why some of it cannot be started, in the daemon's words. */
  problem = "";
  /** The name of the one that is chosen to be started. */
  chosen = "";
  private workspace = "";
  private readAt = 0;
  private lastAnswer = "";

  constructor(private readonly changed: () => void) {}

  async read(workspace: string): Promise<void> {
    this.workspace = workspace;
    this.readAt = performance.now();
    const { data, is_error } = await callToolIn(workspace, "get_debugger_configurations");
    const known = JSON.stringify([workspace, data]);
    // Another folder was chosen in the meantime, or nothing changed.
    if (workspace !== this.workspace || known === this.lastAnswer) return;
    this.lastAnswer = known;
    this.all = [...listed(data["configurations"]), ...listed(data["compounds"])];
    const [wrong] = is_error ? [data] : ((data["problems"] ?? []) as Record<string, unknown>[]);
    this.problem = wrong?.["code"] === NONE ? "" : String(wrong?.["message"] ?? "");
    this.changed();
  }

  /** The one that would be started: the chosen one, if it is still there, else the first. */
  get current(): Configuration | undefined {
    return this.all?.find((it) => it.name === this.chosen) ?? this.all?.[0];
  }

  choose(name: string): void {
    this.chosen = name;
    this.changed();
  }

  /**
   * What a configuration runs, by its name; of any, where none is named. A path with other variables than this folder
   * cannot be opened.
   */
  program(name = ""): string {
    const fits = (it: Configuration) =>
      (!name || it.name === name) && it.program && !/\$\{(?!workspaceFolder)/.test(it.program);
    return this.all?.find(fits)?.program?.replace(/^\$\{workspaceFolder\}\//, "") ?? "";
  }

  async readIfOld(): Promise<void> {
    if (this.all && performance.now() - this.readAt > AGAIN_MS) await this.read(this.workspace);
  }
}

function listed(found: unknown): Configuration[] {
  return ((found ?? []) as Configuration[]).filter(({ name }) => typeof name === "string");
}
