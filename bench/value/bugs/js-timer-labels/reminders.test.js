const test = require('node:test');
const assert = require('node:assert');
const { wakeAll } = require('./reminders');

test('everybody is called by name', () => {
  const sent = wakeAll(['ada', 'bo', 'cy']);
  assert.ok(sent.includes('wake up, bo'));
});
