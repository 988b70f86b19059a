// A small shop: what the scenario of the benchmarks debugs.
class Item {
  constructor(name, price, count) {
    this.name = name;
    this.price = price;
    this.count = count;
  }

  cost() {
    return this.price * this.count;
  }
}

function orders() {
  return [
    [new Item("tea", 3, 4), new Item("cups", 12, 2)],
    [new Item("pens", 2, 30), new Item("paper", 4, 9), new Item("glue", 1, 3)],
  ];
}

function rounds(count) {
  let result = 0;
  for (let number = 0; number < count; number++) {
    const doubled = number * 2;
    result += doubled;
    if (result % 7 === 0) {
      result += 1;
    }
    const label = `round ${number}`;
    console.log(label, result);
  }
  return result;
}

function main() {
  let billed = 0;
  for (const order of orders()) {
    for (const item of order) {
      billed += item.cost();
    }
  }
  console.log("billed", billed);
  console.log("rounds", rounds(45));
}

main();
