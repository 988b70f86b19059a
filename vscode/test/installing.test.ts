import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { install } from "../src/daemon/installing";
import { program, room } from "./rooms";

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
