/** Finds `dragoman`: the settings, the workspace's environment, PATH, pipx and uv, and our own environment. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

import { run, type Program } from "./command";

export interface SearchLocations {
  /** The setting: a `dragoman` or a Python that has it. */
  named: string;
  /** Folders with environments that may be used: none while the workspace is not trusted. */
  folders: readonly string[];
  /** The interpreter that the Python extension has chosen, where there is one. */
  interpreter?: string | undefined;
  /** Our own environment. */
  own: string;
  environment?: NodeJS.ProcessEnv;
  home?: string;
}

interface Candidate {
  path: string;
  origin: string;
}

const ANSWERS_WITHIN_MS = 15_000;
const ENVIRONMENTS = [".venv", "venv", "env", ".env"];
const TOOLS = [
  ".local/bin",
  ".local/share/uv/tools/dragoman/bin",
  ".local/share/pipx/venvs/dragoman/bin",
  ".local/pipx/venvs/dragoman/bin",
];

/** The first that is there and says that it is dragoman. One that is named is used, or nothing is. */
export async function findProgram(where: SearchLocations): Promise<Program | undefined> {
  for (const candidate of candidates(where)) {
    const program = await verifyCandidate(candidate);
    if (program) return program;
  }
  return undefined;
}

export function candidates(where: SearchLocations): Candidate[] {
  if (where.named) return [{ path: where.named, origin: "setting" }];
  const { environment = process.env, home = homedir() } = where;
  const beside = where.interpreter
    ? [{ path: join(dirname(where.interpreter), "dragoman"), origin: "interpreter" }]
    : [];
  const inFolders = where.folders.flatMap((folder) =>
    ENVIRONMENTS.map((name) => ({ path: join(folder, name, "bin", "dragoman"), origin: "workspace" })),
  );
  const onPath = (environment.PATH ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => ({ path: join(folder, "dragoman"), origin: "PATH" }));
  const tools = TOOLS.map((folder) => ({
    path: join(home, folder, "dragoman"),
    origin: folder.includes("pipx") ? "pipx" : "uv",
  }));
  const all = [
    ...beside,
    ...inFolders,
    ...onPath,
    ...tools,
    { path: join(where.own, "bin", "dragoman"), origin: "own" },
  ];
  return all.filter(({ path }) => existsSync(path));
}

/** A file of that name may be anything: it must identify itself. */
async function verifyCandidate({ path, origin }: Candidate): Promise<Program | undefined> {
  const args = /^python[\d.]*$/.test(basename(path)) ? ["-P", "-m", "dragoman.cli.main"] : [];
  try {
    const { code, out } = await run(path, [...args, "--version"], { withinMs: ANSWERS_WITHIN_MS });
    const version = /^dragoman (\S+)\s*$/.exec(out)?.[1];
    return code === 0 && version ? { path, args, version, origin } : undefined;
  } catch {
    return undefined;
  }
}
