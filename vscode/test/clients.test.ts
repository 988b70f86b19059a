import { join } from "node:path";
import { expect, test } from "vitest";

import { holdsSecret, labelOf, offers, textOf } from "../src/daemon/clients";
import { Dragoman } from "../src/daemon/command";
import { program, room } from "./rooms";

const CLIENTS = [
  { id: "desk", title: "Desk", installed: false, stdio: { text: "desk" }, http: null },
  { id: "both", title: "Both", installed: true, stdio: { text: "plain" }, http: { text: "Bearer PASTE-THE-TOKEN-HERE" } },
];

async function offered() {
  const path = await program(join(await room(), "dragoman"), `echo '${JSON.stringify(CLIENTS)}'`);
  return offers(new Dragoman({ path, args: [], version: "1", origin: "PATH" }, "en"));
}

test("two for a client that takes both, one for one that takes stdio; installed ones first", async () => {
  expect((await offered()).map(({ client, transport }) => `${client.id} ${transport}`)).toEqual(["both stdio", "both http", "desk stdio"]);
});

test("the secret is put in where it is needed, and asked for nowhere else", async () => {
  const [stdio, http] = await offered();
  expect(await textOf(http!, async () => "secret")).toBe("Bearer secret");
  expect(await textOf(stdio!, () => Promise.reject(new Error("asked")))).toBe("plain");
});

test("in a list that is searched, and so sorted, the one without a secret stays first", async () => {
  const both = (await offered()).filter(({ client }) => client.id === "both");
  expect(both.map(labelOf).sort((one, other) => one.localeCompare(other))).toEqual(both.map(labelOf));
  expect(both.map(holdsSecret)).toEqual([false, true]);
});
