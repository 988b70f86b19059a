const test = require('node:test');
const assert = require('node:assert');
const { Ledger, pay } = require('./wallet');

test('what is paid is gone', async () => {
  const ledger = new Ledger(100);
  const paid = await pay(ledger, [50, 30]);
  assert.strictEqual(100 - ledger.value, paid);
});
