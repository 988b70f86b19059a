/** The `dragoman` command: everything that changes the daemon's life goes through it, so there is one set of rules. */
import { spawn } from "node:child_process";

export interface Program {
  /** The program, and the arguments before our own. */
  path: string;
  args: string[];
  version: string;
  /** Where it was found, shown to the person. */
  origin: string;
}

export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** The exit codes that scripts may rely on: docs/reference/commands.md. */
export const DECLINED = 4;

/** A command that failed, in its own words. */
export class CommandError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

const WITHIN_MS = 45_000;
const MOST_TEXT = 1 << 20;
const LINGERS_MS = 500;

export function run(
  path: string,
  args: readonly string[],
  options: {
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    withinMs?: number;
    onOutput?: (text: string) => void;
    signal?: AbortSignal;
  } = {},
): Promise<CommandResult> {
  return new Promise((settle, fail) => {
    const child = spawn(path, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ran = { code: -1, out: "", err: "" };
    const timer = setTimeout(() => child.kill("SIGKILL"), options.withinMs ?? WITHIN_MS);
    // As from a keyboard: it tidies up.
    options.signal?.addEventListener("abort", () => child.kill("SIGINT"), { once: true });
    const collect = (name: "out" | "err") => (piece: string) => {
      ran[name] = (ran[name] + piece).slice(-MOST_TEXT);
      options.onOutput?.(piece);
    };
    child.stdout.setEncoding("utf8").on("data", collect("out"));
    child.stderr.setEncoding("utf8").on("data", collect("err"));
    child.on("error", (error) => {
      clearTimeout(timer);
      fail(error);
    });
    const end = (code: number | null) => {
      clearTimeout(timer);
      settle({ ...ran, code: code ?? -1 });
    };
    child.on("close", end);
    // What the command leaves behind on purpose may hold a pipe open: its own words have come by then.
    child.on("exit", (code) => setTimeout(end, LINGERS_MS, code).unref());
  });
}

export class Dragoman {
  constructor(
    readonly program: Program,
    private readonly language: string,
  ) {}

  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, DRAGOMAN_LANG: this.language.toLowerCase().startsWith("zh") ? "zh" : "en" };
  }

  /** Runs it whole; what went wrong is an error with the command's words. `DECLINED` is an answer. */
  async run(args: readonly string[], cwd?: string): Promise<CommandResult> {
    const options = { env: this.environment, ...(cwd === undefined ? {} : { cwd }) };
    const ran = await run(this.program.path, [...this.program.args, ...args], options);
    if (ran.code !== 0 && ran.code !== DECLINED) throw commandError(ran);
    return ran;
  }

  async json<T>(args: readonly string[], cwd?: string): Promise<T> {
    return JSON.parse((await this.run([...args, "--json"], cwd)).out) as T;
  }
}

export function commandError({ code, out, err }: CommandResult): CommandError {
  try {
    const { error } = JSON.parse(out) as { error: { code: string; message: string; hint: string } };
    return new CommandError(error.code, error.message, error.hint);
  } catch {
    const words = (err || out).trim().replace(/^dragoman: /, "");
    const [message = "", ...hint] = words.split("\n").map((line) => line.trim());
    return new CommandError("command_failed", message || `exit code ${code}`, hint.join(" "));
  }
}
