/** Under which names the daemon can be reached, asked of one that refuses as it does. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";

import { isWelcome } from "../src/daemon/welcome";

test("the name that a browser would use is welcome only where the server answers to it", async () => {
  const server = createServer((asked, answer) => {
    answer.statusCode = asked.headers.host === `127.0.0.1:${(server.address() as AddressInfo).port}` ? 200 : 421;
    answer.end();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await isWelcome(`http://${authority}`, authority)).toBe(true);
    expect(await isWelcome(`http://${authority}`, "editor.example:8080")).toBe(false);
  } finally {
    server.close();
  }
  await expect(isWelcome(`http://${authority}`, authority)).rejects.toThrow();
});
