/** Where the daemon keeps its files: the same rules as `dragoman.core.paths`, so that every client finds it. */
import { createHash } from "node:crypto";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

export interface Places {
  stateFile: string;
  controlSocket: string;
  tokensFolder: string;
  logFile: string;
}

type Environment = Record<string, string | undefined>;

/** sockaddr_un holds 104 bytes on macOS and 108 on Linux, with a closing NUL. */
const SOCKET_PATH_LIMIT = 100;

export function findPlaces(environment: Environment = process.env, platform: string = process.platform): Places {
  const { state, runtime } = folders(environment, platform);
  return {
    stateFile: join(shortened(runtime), "daemon.json"),
    controlSocket: join(shortened(runtime), "dragoman.sock"),
    tokensFolder: join(state, "tokens"),
    logFile: join(state, "logs", "dragoman.log"),
  };
}

function folders(environment: Environment, platform: string): { state: string; runtime: string } {
  const own = environment.DRAGOMAN_HOME;
  if (own) {
    const home = resolve(own.replace(/^~(?=\/|$)/, homedir()));
    return { state: join(home, "state"), runtime: join(home, "run") };
  }
  const state =
    platform === "darwin" ? join(homedir(), "Library/Application Support/dragoman/state") : xdgState(environment);
  return { state, runtime: platform === "darwin" ? join(state, "..", "run") : join(state, "run") };
}

function xdgState(environment: Environment): string {
  const named = environment.XDG_STATE_HOME ?? "";
  return join(isAbsolute(named) ? named : join(homedir(), ".local/state"), "dragoman");
}

/** A socket's path must fit the kernel's field: a folder too deep is replaced by one with a hashed name. */
function shortened(runtime: string): string {
  if (Buffer.byteLength(join(runtime, "dragoman.sock")) <= SOCKET_PATH_LIMIT) return runtime;
  const digest = createHash("sha256").update(runtime).digest("hex").slice(0, 16);
  return `/tmp/dragoman-${userInfo().uid}-${digest}`;
}
