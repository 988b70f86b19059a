import { expect, test } from "vitest";
import { coalesced } from "../../src/parts/coalesced";

function counted() {
  const ends: (() => void)[] = [];
  const read = coalesced(() => new Promise<void>((resolve) => ends.push(resolve)));
  return { read, ends };
}

test("one read runs at a time, and requests that come meanwhile share one more", async () => {
  const { read, ends } = counted();
  const all = [read(), read(), read()];
  expect(ends).toHaveLength(1);
  ends[0]!();
  await Promise.resolve();
  await Promise.resolve();
  expect(ends).toHaveLength(2);
  ends[1]!();
  await Promise.all(all);
  expect(ends).toHaveLength(2);
});

test("after a failure the next request reads again", async () => {
  let attempts = 0;
  const read = coalesced(async () => {
    attempts++;
    if (attempts === 1) throw new Error("away");
  });
  await expect(read()).rejects.toThrow("away");
  await read();
  expect(attempts).toBe(2);
});
