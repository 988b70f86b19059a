'use strict';

function parseLine(line) {
  const [user, used, limit] = line.split(/\s*,\s*/);
  return { user, used, limit };
}

function exceeds(entry) {
  const { used, limit } = entry;
  const over = used > limit;
  return over;
}

function blockedUsers(text) {
  const blocked = [];
  for (const line of text.split('\n')) {
    const entry = parseLine(line);
    if (exceeds(entry)) {
      blocked.push(entry.user);
    }
  }
  return blocked;
}

module.exports = { blockedUsers };
