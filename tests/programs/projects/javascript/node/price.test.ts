import assert from "node:assert";
import { test } from "node:test";
import { price } from "../pricing.js";

interface Basket {
  count: number;
}

test("of three is twenty", () => {
  const basket: Basket = { count: 3 };
  const total = price(basket.count);
  assert.strictEqual(total, 20);
});
