'use strict';

class Ledger {
  constructor(balance) {
    this.value = balance;
  }

  async read() {
    await null;
    return this.value;
  }

  async write(value) {
    await null;
    this.value = value;
  }
}

async function withdraw(ledger, amount) {
  const balance = await ledger.read();
  if (balance < amount) {
    throw new Error('not enough');
  }
  const rest = balance - amount;
  await ledger.write(rest);
  return amount;
}

async function pay(ledger, amounts) {
  const paid = await Promise.all(amounts.map((amount) => withdraw(ledger, amount)));
  return paid.reduce((sum, it) => sum + it, 0);
}

async function paySafely(ledger, amounts) {
  let sum = 0;
  for (const amount of amounts) {
    sum += await withdraw(ledger, amount);
  }
  return sum;
}

module.exports = { Ledger, pay, paySafely };
