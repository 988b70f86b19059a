import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { install } from "../../src/daemon/installation";
import { program, room } from "../temporaryFolders";

test("without a Python that is new enough it says which were tried", async () => {
  const old = await program(join(await room(), "python3"), "exit 1");
  await expect(
    install({ own: join(await room(), "e"), wanted: "x", requirements: "r", pythons: [old, "/nowhere"] }, () => {}),
  ).rejects.toMatchObject({
    reason: "no_python",
    output: `${old}, /nowhere`,
  });
});

test("a Python without venv is told as such", async () => {
  const bare = await program(
    join(await room(), "python3"),
    'test "$1" = -c || { echo "No module named venv" >&2; exit 1; }',
  );
  await expect(
    install({ own: join(await room(), "e"), wanted: "x", requirements: "r", pythons: [bare] }, () => {}),
  ).rejects.toMatchObject({
    reason: "no_venv",
    output: "No module named venv",
  });
});

/** A Python that makes environments whose own Python does what the lines say instead of pip. */
async function makes(base: string, ...lines: string[]): Promise<string> {
  const inside = await program(join(base, "inside"), ...lines);
  return program(join(base, "python3"), `test "$2" != venv || { mkdir -p "$3/bin" && cp ${inside} "$3/bin/python"; }`);
}

const says = (word: string) => `printf ${word} > "$(dirname "$0")/dragoman"`;

test("what is installed anew takes the place of the one before, under its name", async () => {
  const base = await room();
  const own = join(base, "kept", "environment");
  for (const word of ["first", "second"]) {
    const made = await install(
      { own, wanted: "x", requirements: "r", pythons: [await makes(base, says(word))] },
      () => {},
    );
    expect([made, readFileSync(made, "utf8")]).toEqual([join(own, "bin", "dragoman"), word]);
  }
  expect(readdirSync(join(base, "kept"))).toEqual(["environment"]);
});

test("a package that cannot be had leaves nothing half made and the one before as it was, and the reason is pip's last word", async () => {
  const base = await room();
  const own = join(base, "kept", "environment");
  const fails = async () =>
    install(
      {
        own,
        wanted: "x",
        requirements: "r",
        pythons: [await makes(base, 'echo "ERROR: No matching distribution" >&2; exit 1')],
      },
      () => {},
    );
  const refused = { reason: "no_package", output: "ERROR: No matching distribution" };
  await expect(fails()).rejects.toMatchObject(refused);
  expect(readdirSync(join(base, "kept"))).toEqual([]);
  await install({ own, wanted: "x", requirements: "r", pythons: [await makes(base, says("first"))] }, () => {});
  await expect(fails()).rejects.toMatchObject(refused);
  expect(readdirSync(join(base, "kept"))).toEqual(["environment"]);
  expect(readFileSync(join(own, "bin", "dragoman"), "utf8")).toBe("first");
});

test("who cancels has the one before, and so has who closed the editor in the middle", async () => {
  const base = await room();
  const own = join(base, "kept", "environment");
  await install({ own, wanted: "x", requirements: "r", pythons: [await makes(base, says("first"))] }, () => {});
  const python = await makes(base, "echo begun; exec sleep 60");
  renameSync(own, `${own}-before`);
  const stop = new AbortController();
  const installing = install(
    { own, wanted: "x", requirements: "r", pythons: [python], signal: stop.signal },
    (line) => line === "begun" && stop.abort(),
  );
  await expect(installing).rejects.toThrow("aborted");
  expect(readFileSync(join(own, "bin", "dragoman"), "utf8")).toBe("first");
});

test("what was left half removed is not taken for the one before", async () => {
  const base = await room();
  const own = join(base, "kept", "environment");
  await install({ own, wanted: "x", requirements: "r", pythons: [await makes(base, says("first"))] }, () => {});
  mkdirSync(join(`${own}-before`, "bin"), { recursive: true });
  await expect(
    install({ own, wanted: "x", requirements: "r", pythons: [await makes(base, "exit 1")] }, () => {}),
  ).rejects.toMatchObject({ reason: "no_package" });
  expect(readdirSync(join(base, "kept"))).toEqual(["environment"]);
  expect(readFileSync(join(own, "bin", "dragoman"), "utf8")).toBe("first");
});

test("packages come by their hashes alone, then the server without any, from a folder that nobody opened", async () => {
  const base = await room();
  const own = join(base, "kept", "environment");
  const python = await makes(base, `printf '%s|%s\\n' "$PWD" "$*" >> ${join(base, "told")}`);
  await install(
    { own, wanted: "/some/dragoman.whl", requirements: "/some/requirements.txt", pythons: [python] },
    () => {},
  );
  const pip = `${join(base, "kept")}|-m pip --disable-pip-version-check`;
  expect(readFileSync(join(base, "told"), "utf8").trim().split("\n")).toEqual([
    `${pip} install --progress-bar off --require-hashes --only-binary :all: -r /some/requirements.txt`,
    `${pip} install --progress-bar off --no-deps --no-build-isolation /some/dragoman.whl`,
    `${pip} check`,
  ]);
});
