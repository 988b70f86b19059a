const test = require('node:test');
const assert = require('node:assert');
const { Invoice, withTax } = require('./invoice');

test('the tax is on all lines', () => {
  const invoice = new Invoice('ada').add('lamp', 1, 1000).add('bulb', 2, 250).add('cable', 1, 500);
  assert.strictEqual(withTax(invoice, 10), 2200);
});
