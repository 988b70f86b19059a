/** What a window does to the server and says of it, with a stand-in for the editor and a real command. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => ({
  window: {
    showErrorMessage: vi.fn(),
    showWarningMessage: vi.fn(),
    showInformationMessage: vi.fn(),
    showQuickPick: vi.fn(),
    showOpenDialog: vi.fn(),
    withProgress: vi.fn(),
    state: { focused: true },
  },
  commands: { executeCommand: vi.fn(), registerCommand: vi.fn() },
  settingsChanged: [] as ((change: object) => void)[],
  settings: {} as Record<string, unknown>,
  workspace: {
    workspaceFolders: [],
    onDidChangeConfiguration: (tell: (change: object) => void) => editor.settingsChanged.push(tell),
    getConfiguration: () => ({ get: (key: string, none: unknown) => editor.settings[key] ?? none }),
  },
  l10n: {
    t: (words: string, ...values: unknown[]) => words.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)])),
  },
  ProgressLocation: { Notification: 15 },
  EventEmitter: class {
    event = () => ({ dispose() {} });
    fire() {}
    dispose() {}
  },
  Disposable: { from: () => ({ dispose() {} }) },
}));
vi.mock("vscode", () => editor);

import { Dragoman } from "../../src/daemon/command";
import type { WatcherListener, DaemonWatcher } from "../../src/daemon/daemonWatcher";
import { installManaged } from "../../src/server/installCommand";
import { registerCommands } from "../../src/server/commands";
import type { ProgramFinder } from "../../src/server/programFinder";
import { Server } from "../../src/server/server";
import { program, room } from "../temporaryFolders";

beforeEach(() => {
  for (const shown of Object.values(editor.window))
    if ("mockReset" in shown) shown.mockReset().mockResolvedValue(undefined);
  const never = { onCancellationRequested() {} };
  editor.window.withProgress.mockImplementation((_, work: (progress: object, cancelled: object) => unknown) =>
    work({ report() {} }, never),
  );
  editor.commands.executeCommand.mockReset();
  editor.settings = {};
});

async function managed(...lines: string[]) {
  const base = await room();
  const path = await program(join(base, "dragoman"), `echo "$@" >> ${join(base, "told")}`, ...lines);
  const heard: WatcherListener[] = [];
  const watch = {
    state: { state: "stopped" },
    listen: (listener: WatcherListener) => heard.push(listener),
    until: async () => true,
  };
  const find = async () => new Dragoman({ path, args: [], version: "1", origin: "PATH" }, "en");
  const programs = {
    find,
    forget() {},
    onDidSearch: () => ({}),
    managedEnvironment: join(base, "environment"),
    requirements: "/requirements.txt",
  };
  const log = { info: vi.fn(), error: vi.fn(), show: vi.fn() };
  const memory = { get: () => true };
  const server = new Server(
    watch as unknown as DaemonWatcher,
    programs as unknown as ProgramFinder,
    memory as never,
    log as never,
  );
  return {
    server,
    base,
    log,
    died: () => heard.forEach((it) => it.died?.()),
    told: async () => (await readFile(join(base, "told"), "utf8")).trim().split("\n"),
  };
}

test("a port that is taken is told without the command line's words, and another can be chosen at once", async () => {
  const { server } = await managed(
    `echo '{"error": {"code": "port_taken", "message": "Port 80 is taken by x.", "hint": "Choose another with --port N."}}'; exit 1`,
  );
  editor.window.showErrorMessage.mockResolvedValue("Choose another port…");
  await server.changePort(80);
  expect(editor.window.showErrorMessage).toHaveBeenCalledWith(
    "Dragoman: Port 80 is taken by x.",
    "Choose another port…",
    "Show log",
  );
  await vi.waitFor(() => expect(editor.commands.executeCommand).toHaveBeenCalledWith("dragoman.changePort"));
});

test("one thing is done to it at a time", async () => {
  const { server, base, told } = await managed(`until test -e "$(dirname "$0")/go"; do sleep 0.02; done`);
  const first = server.stop();
  await vi.waitFor(() => expect(server.activity).toBe("ending"));
  await server.start();
  expect(editor.window.showInformationMessage.mock.calls[0]![0]).toContain(
    "Another change to the server is in progress",
  );
  expect(server.activity).toBe("ending");
  await writeFile(join(base, "go"), "");
  await first;
  expect(await told()).toEqual(["down --json"]);
  expect(server.activity).toBeUndefined();
});

test("one that died is told of, and brought back without taking over from anybody", async () => {
  const { died, told } = await managed();
  editor.window.showWarningMessage.mockResolvedValue("Start");
  died();
  expect(editor.window.showWarningMessage).toHaveBeenCalledWith(
    "The Dragoman server stopped unexpectedly. Its sessions are lost.",
    "Start",
    "Show log",
  );
  await vi.waitFor(async () => expect(await told()).toEqual(["up --json"]));
});

test("nothing is asked of an index unless the person says so; what failed is in the log that is offered", async () => {
  const { server, log, base } = await managed();
  const refuses = `mkdir -p "$3/bin"; printf '#!/bin/sh\\ncase "$*" in *--no-deps*) echo "ERROR: \${9}: no such file" >&2; exit 1;; esac\\n' > "$3/bin/python"; chmod +x "$3/bin/python"`;
  await program(join(base, "bin", "python3.14"), `test "$2" != venv || { ${refuses}; }`);
  vi.stubEnv("PATH", `${join(base, "bin")}:${process.env["PATH"]}`);
  await installManaged(server); // the list was closed
  expect(editor.window.withProgress).not.toHaveBeenCalled();
  const { mock } = editor.window.showQuickPick;
  expect((mock.calls[0]![0] as { label: string }[]).map(({ label }) => label)).toEqual([
    "A wheel…",
    "A folder with the source…",
    "The package index",
  ]);

  const reported: string[] = [];
  const report = ({ message }: { message: string }) => reported.push(message);
  editor.window.withProgress.mockImplementation((_, work: (progress: object, cancelled: object) => unknown) =>
    work({ report }, { onCancellationRequested() {} }),
  );
  editor.settings["package"] = "/nowhere/[x](command:evil)/dragoman-1-py3-none-any.whl"; // who named one is not asked
  editor.window.showErrorMessage.mockResolvedValue("Show log");
  await installManaged(server);
  expect(mock.calls.length).toBe(1);
  expect(editor.window.showErrorMessage.mock.calls[0]![0]).toMatch(
    /could not be installed: .*nowhere.*uv tool install/,
  );
  await vi.waitFor(() => expect(log.show).toHaveBeenCalled());
  expect(log.info.mock.calls.flat().join("\n")).toContain("/dragoman-1-py3-none-any.whl");
  expect(reported.join("\n")).toContain("]\u200b(command:evil)");
  expect(reported.join("\n")).not.toContain("](command:"); // what pip prints is a link in no notification
  expect(String(editor.window.showErrorMessage.mock.calls[0]![0])).not.toContain("](command:");
  vi.unstubAllEnvs();
});

test("a port that is written into the settings while no server runs counts for whoever starts one", async () => {
  const { server, told } = await managed();
  registerCommands(server);
  editor.settings["port"] = 8300;
  const change = { affectsConfiguration: (name: string) => name === "dragoman.port" };
  editor.settingsChanged.at(-1)!(change);
  await vi.waitFor(async () => expect(await told()).toEqual(["config set port 8300"]));
});
