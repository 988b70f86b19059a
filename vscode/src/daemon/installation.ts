/** Puts dragoman into an environment of our own, where the person has none. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import { run, type CommandResult } from "./command";

export interface Installation {
  /** The folder of the environment. Its name must not change: shells and clients refer to it. */
  own: string;
  /** What pip installs: a name, or a file. */
  wanted: string;
  /** Its requirements, each package with its hashes: the file that comes with the extension. */
  requirements: string;
  pythons?: readonly string[];
  /** When the person has thought better of it. */
  signal?: AbortSignal;
}

/** Why the installation failed, and what the person may do. The caller chooses how to show it. */
export class InstallError extends Error {
  constructor(
    readonly reason: "no_python" | "no_venv" | "no_package",
    readonly output: string,
  ) {
    super(output);
  }
}

const PYTHONS = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
const NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))";
const WITHIN_MS = 600_000;

/**
 * If the new installation is incomplete, the old one is restored.
 *
 * Packages are checked by their hashes, whatever server they come from, and are installed as wheels only: a source
 * archive would fetch its build tools by name. Then the package itself is installed, without further downloads. It may
 * need more than the extension knows: `pip check` reports that before it is used.
 */
export async function install(
  { own, wanted, requirements, pythons = PYTHONS, signal }: Installation,
  report: (line: string) => void,
): Promise<string> {
  const python = await findPython(pythons);
  const [made, before] = [join(own, "bin", "dragoman"), `${own}-before`];
  const pip = [join(own, "bin", "python"), "-m", "pip", "--disable-pip-version-check"];
  const get = [...pip, "install", "--progress-bar", "off"];
  const cwd = dirname(own); // `-m` looks there first: never in a folder that somebody opened
  await mkdir(dirname(own), { recursive: true });
  // The editor may have ended in the middle, or while what was before the new one was removed.
  await (existsSync(made) ? remove(before) : restore(before, own));
  if (existsSync(own)) await rename(own, before);
  try {
    await step("no_venv", [python, "-m", "venv", own], { cwd, signal }, report);
    await step(
      "no_package",
      [...get, "--require-hashes", "--only-binary", ":all:", "-r", requirements],
      { cwd, signal },
      report,
    );
    await step("no_package", [...get, "--no-deps", "--no-build-isolation", wanted], { cwd, signal }, report);
    await step("no_package", [...pip, "check"], { cwd, signal }, report);
  } catch (error) {
    await restore(before, own);
    throw error;
  }
  await remove(before);
  return made;
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

async function restore(before: string, own: string): Promise<void> {
  await remove(own);
  if (existsSync(before)) await rename(before, own);
}

async function findPython(pythons: readonly string[]): Promise<string> {
  for (const python of pythons) {
    const ran = await run(python, ["-c", NEW_ENOUGH], { withinMs: 15_000 }).catch(() => undefined);
    if (ran?.code === 0) return python;
  }
  throw new InstallError("no_python", pythons.join(", "));
}

async function step(
  reason: InstallError["reason"],
  [path = "", ...args]: string[],
  { cwd, signal }: { cwd: string; signal: AbortSignal | undefined },
  report: (line: string) => void,
): Promise<void> {
  const onOutput = (text: string) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .forEach(report);
  const ran: CommandResult = await run(path, args, {
    cwd,
    withinMs: WITHIN_MS,
    onOutput,
    ...(signal && { signal }),
  });
  signal?.throwIfAborted();
  if (ran.code !== 0) throw new InstallError(reason, lastLine(ran));
}

function lastLine({ code, out, err }: CommandResult): string {
  const lines = (err.trim() || out.trim()).split("\n").filter((line) => !line.includes("[notice]"));
  return lines.at(-1)?.trim() || `exit code ${code}`;
}
