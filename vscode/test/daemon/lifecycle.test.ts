import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import type { CommandError } from "../../src/daemon/command";
import { Dragoman } from "../../src/daemon/command";
import { Lifecycle } from "../../src/daemon/lifecycle";
import { program, room } from "../temporaryFolders";

/** A command that notes what it is told, and declines without `--yes` as the real one does while sessions live. */
async function life(...lines: string[]) {
  const base = await room();
  const path = await program(join(base, "dragoman"), `echo "$@ [$DRAGOMAN_LANG]" >> ${join(base, "told")}`, ...lines);
  const told = async () => (await readFile(join(base, "told"), "utf8")).trim().split("\n");
  return { it: new Lifecycle(new Dragoman({ path, args: [], version: "1", origin: "PATH" }, "zh-cn")), told };
}

const DECLINES = 'case "$*" in *--yes*) ;; *) exit 4 ;; esac';

test("a start by hand that would end sessions asks first, and a no changes nothing", async () => {
  const { it, told } = await life(DECLINES);
  expect(await it.takeOver("/w", 8200, async () => false)).toBe(false);
  expect(await told()).toEqual(["up --take-over --workspace /w --port 8200 --json [zh]"]);
});

test("with consent it is said again, and then it is meant", async () => {
  const { it, told } = await life(DECLINES);
  expect(await it.stop(async () => true)).toBe(true);
  expect(await told()).toEqual(["down --json [zh]", "down --yes --json [zh]"]);
});

test("where nothing would end, nobody is asked", async () => {
  const { it } = await life();
  expect(await it.restart(() => Promise.reject(new Error("asked")))).toBe(true);
});

test("the automatic start never takes over", async () => {
  const { it, told } = await life();
  await it.start("", null);
  expect(await told()).toEqual(["up --json [zh]"]);
});

test("what went wrong is told in the command's own words", async () => {
  const { it } = await life(
    `echo '{"error": {"code": "port_taken", "message": "Taken.", "hint": "Choose another."}}'; exit 1`,
  );
  const failed = (await it.start("", 1).catch((error: unknown) => error)) as CommandError;
  expect([failed.code, failed.message, failed.hint]).toEqual(["port_taken", "Taken.", "Choose another."]);
  const plain = await life("echo 'dragoman: It broke.' >&2; echo '  Mend it.' >&2; exit 1");
  await expect(plain.it.set("port", "x")).rejects.toMatchObject({ message: "It broke.", hint: "Mend it." });
});
