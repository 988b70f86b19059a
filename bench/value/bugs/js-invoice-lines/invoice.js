'use strict';

class Invoice {
  constructor(customer) {
    this.customer = customer;
    this.lines = [];
  }

  add(article, pieces, cents) {
    this.lines.push({ article, pieces, cents });
    return this;
  }
}

function sumLines(invoice) {
  const count = invoice.lines.length - 1;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += invoice.lines[i].pieces * invoice.lines[i].cents;
  }
  return sum;
}

function withTax(invoice, percent) {
  const net = sumLines(invoice);
  return Math.round(net + (net * percent) / 100);
}

module.exports = { Invoice, withTax };
