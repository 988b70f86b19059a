const test = require('node:test');
const assert = require('node:assert');
const { Client } = require('./server_options');

test('retries can be turned off', () => {
  const client = new Client({ retries: 0 });
  client.call(() => false);
  assert.strictEqual(client.attempts, 1);
});
