/**
 * The client's half of the proof computes what the daemon computes, with and without the browser's own cryptography.
 */
import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";

import { mac, sessionOf } from "../../../web/src/link/proof";
import { hex, plainHmac, sha256 } from "../../../web/src/link/sha256";

const TRANSCRIPT = {
  keyId: "code-1",
  path: "/link/calls",
  clientNonce: "ab".repeat(32),
  daemonNonce: "cd".repeat(32),
  instance: "0123456789abcdef0123456789abcdef",
  dialled: "0123456789abcdef0123456789abcdef.localhost:8177",
};

/** By `dragoman.access.proof`; the same numbers are in its own tests. */
const VECTOR = [
  "fe3a1078afa026f8e44eccd903b480224bb33243888274806acb9370137211e8",
  "c341a92e4e4dfc369c995212db091249e423ce7ca7a773fae54d359c78f83264",
  "e5a14f2773076cbb76e17129bd5c6eb4",
  "eebe88d6142387408b29039b5568aa829a47ae11b8f5d3bccbcaca91764832e1",
];

test("the proofs are those of the daemon", async () => {
  const { id, secret } = await sessionOf("a secret", TRANSCRIPT);
  expect([
    await mac("a secret", "daemon", TRANSCRIPT),
    await mac("a secret", "client", TRANSCRIPT),
    id,
    secret,
  ]).toEqual(VECTOR);
});

test("SHA-256 without the browser is SHA-256", () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) {
    const data = Uint8Array.from({ length: size }, (_, index) => (index * 7) & 255);
    expect(hex(sha256(data))).toBe(createHash("sha256").update(data).digest("hex"));
    for (const key of [data.slice(0, 32), data])
      expect(hex(plainHmac(key, data))).toBe(createHmac("sha256", key).update(data).digest("hex"));
  }
});
