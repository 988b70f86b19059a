const test = require('node:test');
const assert = require('node:assert');
const { Database, Profiles, label } = require('./profiles');

test('the label follows a move', () => {
  const profiles = new Profiles(new Database([[7, { name: 'Ada', city: 'Paris' }]]));
  profiles.move(7, 'Turin');
  assert.ok(label(profiles, 7).endsWith('TURIN'));
});
