const test = require('node:test');
const assert = require('node:assert');
const { volume } = require('./settings_file');

test('a setting between two comments counts', () => {
  assert.strictEqual(volume('/* name */ volume=80; /* look */ theme=dark'), 80);
});
