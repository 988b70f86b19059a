import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { findProgram } from "../src/daemon/finding";
import { install } from "../src/daemon/installing";
import { program, room } from "./rooms";

/** A package of that name in the smallest form that pip takes; it needs no network. */
async function wheel(): Promise<string> {
  const path = join(await room(), "dragoman-9.9-py3-none-any.whl");
  const make = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("dragoman_said.py", "def main():\\n    print('dragoman 9.9')\\n")
    wheel.writestr("dragoman-9.9.dist-info/METADATA", "Metadata-Version: 2.1\\nName: dragoman\\nVersion: 9.9\\n")
    wheel.writestr("dragoman-9.9.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("dragoman-9.9.dist-info/entry_points.txt", "[console_scripts]\\ndragoman = dragoman_said:main\\n")
    wheel.writestr("dragoman-9.9.dist-info/RECORD", "")
`;
  execFileSync("python3", ["-c", make, path]);
  return path;
}

test("it is installed into an environment of its own, with progress, and is found there", { timeout: 60_000 }, async () => {
  const own = join(await room(), "storage", "environment");
  const told: string[] = [];
  const made = await install({ own, wanted: await wheel() }, (line) => told.push(line));
  expect(made).toBe(join(own, "bin", "dragoman"));
  expect(told.join("\n")).toContain("Successfully installed dragoman-9.9");
  expect(await findProgram({ named: "", folders: [], own, environment: { PATH: "" }, home: "/nowhere" })).toMatchObject({ version: "9.9", origin: "own" });
});

test("without a Python that is new enough it says which were tried", async () => {
  const old = await program(join(await room(), "python3"), "exit 1");
  await expect(install({ own: join(await room(), "e"), wanted: "x", pythons: [old, "/nowhere"] }, () => {})).rejects.toMatchObject({
    reason: "no_python", said: `${old}, /nowhere`,
  });
});

test("a Python without venv is told as such", async () => {
  const bare = await program(join(await room(), "python3"), 'test "$1" = -c || { echo "No module named venv" >&2; exit 1; }');
  await expect(install({ own: join(await room(), "e"), wanted: "x", pythons: [bare] }, () => {})).rejects.toMatchObject({
    reason: "no_venv", said: "No module named venv",
  });
});

test("a package that cannot be had leaves nothing half made, and the reason is pip's last word", async () => {
  const base = await room();
  const refuses = `mkdir -p "$3/bin"; printf '#!/bin/sh\\necho "ERROR: No matching distribution" >&2; exit 1\\n' > "$3/bin/python"; chmod +x "$3/bin/python"`;
  const python = await program(join(base, "python3"), `test "$2" != venv || { ${refuses}; }`);
  const own = join(base, "environment");
  await expect(install({ own, wanted: "dragoman", pythons: [python] }, () => {})).rejects.toMatchObject({
    reason: "no_package", said: "ERROR: No matching distribution",
  });
  expect(existsSync(own)).toBe(false);
});
