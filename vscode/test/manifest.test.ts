/** What the manifest promises. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pythonSource } from "./pythonSource";

interface Manifest {
  engines: Record<string, string>;
  dependencies?: object;
  capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, { scope: string }> };
    breakpoints: { language: string }[];
    debuggers: [{ configurationAttributes: Record<"launch" | "attach", Schema> }];
  };
}

interface Schema {
  required?: string[];
  properties: Record<string, object>;
  patternProperties: Record<string, object>;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const source = [
  "src/server/commands.ts",
  "src/server/gatewayControl.ts",
  "src/debug/debugType.ts",
  "src/debug/stopCountdown.ts",
  "src/views/register.ts",
  "src/bridge/bridge.ts",
  "src/bridge/proposals.ts",
  "src/sharing/sessionSharing.ts",
]
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

test("it runs in editors from 1.101 on and carries no library", () => {
  expect(manifest.engines.vscode).toBe("^1.101.0");
  expect(manifest.dependencies).toBeUndefined();
});

test("a workspace that is not trusted cannot name a program", () => {
  const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  expect([supported, restrictedConfigurations]).toEqual(["limited", ["dragoman.path", "dragoman.package"]]);
});

test("every command that is offered is served", () => {
  for (const { command } of manifest.contributes.commands) {
    const name = command.replace("dragoman.", "");
    expect(source).toMatch(new RegExp(`\\b${name}:|"${command}"`));
  }
});

test("the lock file names no address", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/https?:\/\/|"funding"/);
});

/**
 * The editor forbids every key that a pattern does not allow: what a debugger of its own takes would be underlined as
 * wrong.
 */
test("no configuration that the server takes is underlined in launch.json, and what is ours is described", () => {
  const [{ configurationAttributes: schema }] = manifest.contributes.debuggers;
  for (const { required, patternProperties } of Object.values(schema)) {
    expect(required).toBeUndefined(); // an attach without a session asks for one
    expect(Object.keys(patternProperties).some((pattern) => new RegExp(pattern).test("initCommands"))).toBe(true);
  }
  const sets = [
    ...pythonSource("_ATTACHED_TO = frozenset").matchAll(
      /^_(?:TAKEN|TARGETS|ATTACHED_TO) = frozenset\(\s*\{([^}]*)\}/gm,
    ),
  ].map(([, names]) => names);
  const ours = [...sets.join(",").matchAll(/"(\w+)"/g)].map(([, name]) => name!);
  const theEditors = new Set(["noDebug", "mirrorsBreakpoints"]); // its own, and what we say for it
  const described = { ...schema.launch.properties, ...schema.attach.properties };
  expect(ours.length).toBeGreaterThan(15);
  expect(ours.filter((name) => !theEditors.has(name) && !(name in described))).toEqual([]);
});

test("breakpoints can be set in every language that a session may be of", () => {
  const families = [...pythonSource("JAVASCRIPT = frozenset").matchAll(/^([A-Z]+) = frozenset\(\{"\.[a-z]/gm)].map(
    ([, name]) => name!,
  );
  const languages: Record<string, string[]> = {
    PYTHON: ["python"],
    LUA: ["lua"],
    GO: ["go"],
    RUBY: ["ruby"],
    JAVASCRIPT: ["javascript", "typescript", "javascriptreact", "typescriptreact"],
    NATIVE: ["c", "cpp", "objective-c", "objective-cpp", "rust", "zig", "swift"],
  };
  const wanted = families.flatMap((family) => languages[family] ?? [family]);
  expect(manifest.contributes.breakpoints.map(({ language }) => language).sort()).toEqual(wanted.sort());
});
