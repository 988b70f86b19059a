const assert = require("node:assert");
const { price, priceLater } = require("../pricing");

describe("a price", () => {
  it("of three is twenty", () => {
    const basket = { count: 3, name: "apples" };
    const total = price(basket.count);
    assert.strictEqual(total, 20);
  });

  it("of three is twenty, later", async () => {
    const count = 3;
    const total = await priceLater(count);
    assert.strictEqual(total, 20);
  });

  it("of none is nothing", () => {
    assert.strictEqual(price(0), 0);
  });
});
