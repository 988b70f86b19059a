/**
 * Converts paths between agents and a window with its files on another machine (SSH, WSL, a container, a browser). The
 * editor names such a file `vscode-remote://authority/path`.
 */
import type { Json } from "../bridge/rpcConnection";

const REMOTE = /^(vscode-remote:\/\/[^/]+)(\/[^?#]*)$/;

export class RemotePaths {
  /** The prefix in this session's answers; undefined in a window that has the files itself. */
  private authority = "";

  /** The editor's answer. */
  toPlain<T>(answer: T): T {
    return mapped(answer, ({ path }) => {
      const [, authority, rest] = REMOTE.exec(path) ?? [];
      if (authority === undefined || rest === undefined) return path;
      this.authority = authority;
      return decoded(rest);
    });
  }

  /** The path for the editor: a plain path would be one of the machine that shows the window. */
  toEditor<T>(given: T): T {
    const isKnown = (path: string) => this.authority !== "" && path.startsWith("/");
    return mapped(given, ({ path, sourceReference }) =>
      isKnown(path) && !(Number(sourceReference) > 0)
        ? this.authority + path.split("/").map(encodeURIComponent).join("/")
        : path,
    );
  }
}

function mapped<T>(value: T, path: (source: Json & { path: string }) => string): T {
  if (Array.isArray(value)) return value.map((it: unknown) => mapped(it, path)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, it]) => [key, mapped(it as unknown, path)]);
  const made = Object.fromEntries(entries) as Json;
  return (typeof made.path === "string" ? { ...made, path: path(made as Json & { path: string }) } : made) as T;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
