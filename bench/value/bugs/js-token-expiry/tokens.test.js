const test = require('node:test');
const assert = require('node:assert');
const { issue, Gate } = require('./tokens');

test('a fresh token is admitted', () => {
  const clock = { now: () => 17e11 };
  const gate = new Gate(clock);
  assert.ok(gate.admit(issue('ada', clock, 1)), 'refused');
});
