'use strict';

function toCents(text) {
  const exact = Number(text) * 100;
  const cents = Math.trunc(exact);
  return cents;
}

class Till {
  constructor() {
    this.cents = [];
  }

  addPrice(text, pieces = 1) {
    const cents = toCents(text);
    for (let piece = 0; piece < pieces; piece++) {
      this.cents.push(cents);
    }
  }

  total() {
    const sum = this.cents.reduce((all, one) => all + one, 0);
    return (sum / 100).toFixed(2);
  }
}

module.exports = { Till };
