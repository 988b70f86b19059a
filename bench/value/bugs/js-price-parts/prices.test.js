const test = require('node:test');
const assert = require('node:assert');
const { Till } = require('./prices');

test('four pieces', () => {
  const till = new Till();
  till.addPrice('2.50');
  till.addPrice('1.15', 4);
  assert.strictEqual(till.total(), '7.10');
});
