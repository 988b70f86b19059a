const { price, priceLater } = require("../pricing");

describe("a price", () => {
  test("of three is twenty", () => {
    const basket = { count: 3, name: "apples" };
    const total = price(basket.count);
    expect(total).toBe(20);
  });

  test("of three is twenty, later", async () => {
    const count = 3;
    const total = await priceLater(count);
    expect(total).toBe(20);
  });

  test("of none is nothing", () => {
    expect(price(0)).toBe(0);
    expect(() => { throw new RangeError("caught"); }).toThrow(RangeError);
  });
});
