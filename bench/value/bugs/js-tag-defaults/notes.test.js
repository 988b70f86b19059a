const test = require('node:test');
const assert = require('node:assert');
const { Board } = require('./notes');

test('only the marked note is urgent', () => {
  const board = new Board();
  board.write('first!');
  board.write('second');
  assert.strictEqual(board.urgent(), 1);
});
