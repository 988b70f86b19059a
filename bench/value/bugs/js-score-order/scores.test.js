const test = require('node:test');
const assert = require('node:assert');
const { grade } = require('./scores');

test('the middle score decides', () => {
  assert.strictEqual(grade(['ada 9', 'bo 100', 'cy 25', 'di 8', 'ed 70']), 'fair');
});
