/** Puts dragoman into an environment of our own, where the person has none. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import { run, type Ran } from "./command";

export interface Installation {
  /** The folder of the environment. Its name stays: shells and clients were told it. */
  own: string;
  /** What pip is asked for: a name, or a file. */
  wanted: string;
  /** What it needs, each package by its hashes: the file that comes with the extension. */
  requirements: string;
  pythons?: readonly string[];
  /** When the person has thought better of it. */
  signal?: AbortSignal;
}

/** What cannot be done, and what the person may do about it: the face that shows it chooses the words. */
export class CannotInstall extends Error {
  constructor(
    readonly reason: "no_python" | "no_venv" | "no_package",
    readonly said: string,
  ) {
    super(said);
  }
}

const PYTHONS = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
const NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))";
const WITHIN_MS = 600_000;

/**
 * What was there comes back as it was, unless the new one is whole.
 *
 * Packages by their hashes, whoever serves them, and as wheels alone: a source archive would fetch what builds it by name. Then
 * what is wanted, for which nothing more is fetched. It may need more than the extension knows of: pip says so before it is used.
 */
export async function install({ own, wanted, requirements, pythons = PYTHONS, signal }: Installation, tell: (line: string) => void): Promise<string> {
  const python = await findPython(pythons);
  const [made, before] = [join(own, "bin", "dragoman"), `${own}-before`];
  const pip = [join(own, "bin", "python"), "-m", "pip", "--disable-pip-version-check"];
  const get = [...pip, "install", "--progress-bar", "off"];
  const cwd = dirname(own); // `-m` looks there first: never in a folder that somebody opened
  await mkdir(dirname(own), { recursive: true });
  // The editor may have ended in the middle, or while what was before the new one was removed.
  await (existsSync(made) ? remove(before) : putBack(before, own));
  if (existsSync(own)) await rename(own, before);
  try {
    await step("no_venv", [python, "-m", "venv", own], { cwd, signal }, tell);
    await step("no_package", [...get, "--require-hashes", "--only-binary", ":all:", "-r", requirements], { cwd, signal }, tell);
    await step("no_package", [...get, "--no-deps", "--no-build-isolation", wanted], { cwd, signal }, tell);
    await step("no_package", [...pip, "check"], { cwd, signal }, tell);
  } catch (error) {
    await putBack(before, own);
    throw error;
  }
  await remove(before);
  return made;
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

async function putBack(before: string, own: string): Promise<void> {
  await remove(own);
  if (existsSync(before)) await rename(before, own);
}

async function findPython(pythons: readonly string[]): Promise<string> {
  for (const python of pythons) {
    const ran = await run(python, ["-c", NEW_ENOUGH], { withinMs: 15_000 }).catch(() => undefined);
    if (ran?.code === 0) return python;
  }
  throw new CannotInstall("no_python", pythons.join(", "));
}

async function step(
  reason: CannotInstall["reason"],
  [path = "", ...args]: string[],
  { cwd, signal }: { cwd: string; signal: AbortSignal | undefined },
  tell: (line: string) => void,
): Promise<void> {
  const heard = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean).forEach(tell);
  const ran: Ran = await run(path, args, { cwd, withinMs: WITHIN_MS, heard, ...(signal && { signal }) });
  signal?.throwIfAborted();
  if (ran.code !== 0) throw new CannotInstall(reason, lastWords(ran));
}

function lastWords({ code, out, err }: Ran): string {
  const lines = (err.trim() || out.trim()).split("\n").filter((line) => !line.includes("[notice]"));
  return lines.at(-1)?.trim() || `exit code ${code}`;
}
