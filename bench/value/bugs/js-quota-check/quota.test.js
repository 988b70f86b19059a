const test = require('node:test');
const assert = require('node:assert');
const { blockedUsers } = require('./quota');

test('only who is over the quota is blocked', () => {
  assert.deepStrictEqual(blockedUsers('ada, 9, 10\nbo, 8, 5'), ['bo']);
});
