/** What the manifest promises. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Manifest {
  engines: Record<string, string>;
  dependencies?: object;
  capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  contributes: { commands: { command: string }[]; configuration: { properties: Record<string, { scope: string }> } };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const source = ["src/manage/commands.ts", "src/together/debugging.ts", "src/views/register.ts", "src/bridge/bridge.ts", "src/bridge/proposals.ts", "src/sharing/sharing.ts"].map((path) => readFileSync(path, "utf8")).join("\n");

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
