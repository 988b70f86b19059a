import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { readState, readToken } from "../../src/daemon/stateFiles";
import { findPlaces } from "../../src/daemon/places";
import { room } from "../temporaryFolders";

async function places(note: string, mode = 0o600) {
  const home = await room();
  await mkdir(join(home, "run"));
  await mkdir(join(home, "state"));
  const found = findPlaces({ DRAGOMAN_HOME: home });
  await writeFile(found.stateFile, note, { mode });
  await mkdir(found.tokensFolder);
  await writeFile(join(found.tokensFolder, "editor"), "secret\n", { mode });
  return found;
}

const NOTE = JSON.stringify({ pid: 7, bind: "127.0.0.1", port: 8177, instance: "i" });

test("the address comes from the daemon's note", async () => {
  expect(await readState(await places(NOTE))).toEqual({ authority: "127.0.0.1:8177", instance: "i" });
  expect(await readState(await places(NOTE.replace("127.0.0.1", "::1")))).toEqual({
    authority: "[::1]:8177",
    instance: "i",
  });
});

test("a note that is not there, or half written, is none", async () => {
  expect(await readState(findPlaces({ DRAGOMAN_HOME: "/nowhere" }))).toBeUndefined();
  expect(await readState(await places(NOTE.slice(0, 9)))).toBeUndefined();
});

test("a token is believed only from a private file of one's own", async () => {
  const found = await places(NOTE);
  expect(await readToken(found, "editor")).toBe("secret");
  await expect(readToken(found, "mcp")).rejects.toThrow("no token for mcp");
  await chmod(join(found.tokensFolder, "editor"), 0o644);
  await expect(readToken(found, "editor")).rejects.toThrow("not private to you");
});

test("a link in the place of the tokens is not followed", async () => {
  const [found, other] = [await places(NOTE), await places(NOTE)];
  await symlink(join(other.tokensFolder, "editor"), join(found.tokensFolder, "mcp"));
  await expect(readToken(found, "mcp")).rejects.toThrow();
});
