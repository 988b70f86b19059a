import { join } from "node:path";
import { expect, test } from "vitest";

import { holdsSecret, configLabel, clientConfigs, configText } from "../../src/daemon/clients";
import { Dragoman } from "../../src/daemon/command";
import { program, room } from "../temporaryFolders";

const CLIENTS = [
  { id: "desk", title: "Desk", installed: false, stdio: { text: "desk" }, http: null },
  {
    id: "both",
    title: "Both",
    installed: true,
    stdio: { text: "plain" },
    http: { text: "Bearer PASTE-THE-TOKEN-HERE" },
  },
];

/** A stand-in for the command: it gives a client's own token, once its configuration was asked for, and no other. */
const COMMAND = `case "$*" in
  "client-config --json") echo '${JSON.stringify(CLIENTS)}';;
  "client-config both --http --print") touch "$0.made";;
  "token show mcp both") [ -e "$0.made" ] && echo secret-of-both;;
  *) echo "dragoman: asked for $*" >&2; exit 1;;
esac`;

async function command(): Promise<Dragoman> {
  return new Dragoman(
    { path: await program(join(await room(), "dragoman"), COMMAND), args: [], version: "1", origin: "PATH" },
    "en",
  );
}

async function offered() {
  return clientConfigs(await command());
}

test("two for a client that takes both, one for one that takes stdio; installed ones first", async () => {
  expect((await offered()).map(({ client, transport }) => `${client.id} ${transport}`)).toEqual([
    "both stdio",
    "both http",
    "desk stdio",
  ]);
});

test("the client's own secret is put in where it is needed, and asked for nowhere else", async () => {
  const dragoman = await command();
  const [stdio, http] = await clientConfigs(dragoman);
  expect(await configText(dragoman, http!)).toBe("Bearer secret-of-both");
  expect(
    await configText(new Dragoman({ path: "/nowhere", args: [], version: "1", origin: "PATH" }, "en"), stdio!),
  ).toBe("plain");
});

test("in a list that is searched, and so sorted, the one without a secret stays first", async () => {
  const both = (await offered()).filter(({ client }) => client.id === "both");
  expect(both.map(configLabel).sort((one, other) => one.localeCompare(other))).toEqual(both.map(configLabel));
  expect(both.map(holdsSecret)).toEqual([false, true]);
});
