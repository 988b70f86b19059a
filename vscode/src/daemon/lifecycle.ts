/** Start, stop, restart, another port: by the daemon's own command, which asks before live sessions end. */
import { DECLINED, type Dragoman } from "./command";

/** Whether the person agrees that live sessions end. */
export type Confirm = () => Promise<boolean>;

export interface Setting {
  key: string;
  value: unknown;
}

export class Lifecycle {
  constructor(private readonly dragoman: Dragoman) {}

  /** The automatic start: where one runs already, that one is used. */
  async start(workspace: string, port: number | null): Promise<void> {
    await this.dragoman.run(["up", ...workspaceOption(workspace), ...portOption(port), "--json"]);
  }

  /** A start by hand: a running daemon is ended first. */
  takeOver(workspace: string, port: number | null, agrees: Confirm): Promise<boolean> {
    return this.runWithConsent(["up", "--take-over", ...workspaceOption(workspace), ...portOption(port)], agrees);
  }

  stop(agrees: Confirm): Promise<boolean> {
    return this.runWithConsent(["down"], agrees);
  }

  restart(agrees: Confirm): Promise<boolean> {
    return this.runWithConsent(["restart"], agrees);
  }

  /** The settings of the daemon are everybody's: windows, clients and the command line start it by them. */
  async set(key: string, value: string): Promise<void> {
    await this.dragoman.run(["config", "set", key, value]);
  }

  async setting(key: string): Promise<unknown> {
    const settings = await this.dragoman.json<Setting[]>(["config", "list"]);
    return settings.find((setting) => setting.key === key)?.value;
  }

  /** First without consent: only the command knows at that moment whether anything would end. */
  private async runWithConsent(args: string[], agrees: Confirm): Promise<boolean> {
    if ((await this.dragoman.run([...args, "--json"])).code !== DECLINED) return true;
    if (!(await agrees())) return false;
    await this.dragoman.run([...args, "--yes", "--json"]);
    return true;
  }
}

function workspaceOption(workspace: string): string[] {
  return workspace ? ["--workspace", workspace] : [];
}

function portOption(port: number | null): string[] {
  return port === null ? [] : ["--port", String(port)];
}
