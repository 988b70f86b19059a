'use strict';

function issue(user, clock, hours) {
  const seconds = Math.floor(clock.now() / 1000);
  return { user, issued: seconds, expires: seconds + hours * 3600 };
}

function isExpired(token, clock) {
  const expires = token.expires;
  const now = clock.now();
  return now >= expires;
}

class Gate {
  constructor(clock) {
    this.clock = clock;
    this.refused = [];
  }

  admit(token) {
    if (isExpired(token, this.clock)) {
      this.refused.push(token.user);
      return false;
    }
    return true;
  }
}

module.exports = { issue, Gate };
