const test = require('node:test');
const assert = require('node:assert');
const { Bucket, uploadAll } = require('./uploads');

test('files without details are stored too', () => {
  const files = [{ name: 'a.png', meta: { size: 3 } }, { name: 'b.png' }];
  assert.strictEqual(uploadAll(new Bucket(), files).done, 2);
});
