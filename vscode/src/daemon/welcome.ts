/** Whether the daemon answers to a name: it refuses those that are not its own, so that no other site can speak to it. */
import { request } from "node:http";

const WITHIN_MS = 3000;
const MISDIRECTED = 421;

export function isWelcome(address: string, authority: string): Promise<boolean> {
  return new Promise((settle, fail) => {
    const asked = request(address, { method: "GET", headers: { Host: authority }, timeout: WITHIN_MS }, (answer) => {
      answer.resume();
      settle(answer.statusCode !== MISDIRECTED);
    });
    asked.on("timeout", () => asked.destroy(new Error(`${address}: no answer within ${WITHIN_MS} ms`)));
    asked.on("error", fail);
    asked.end();
  });
}
