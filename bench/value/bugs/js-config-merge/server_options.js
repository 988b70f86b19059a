'use strict';

const DEFAULTS = { port: 8080, retries: 3, timeout: 30 };

function option(given, name) {
  const value = given || DEFAULTS[name];
  return value;
}

class Client {
  constructor(options) {
    this.retries = option(options.retries, 'retries');
    this.timeout = option(options.timeout, 'timeout');
    this.attempts = 0;
  }

  call(service) {
    for (let attempt = 0; attempt <= this.retries; attempt++) {
      this.attempts += 1;
      if (service()) {
        return true;
      }
    }
    return false;
  }
}

module.exports = { Client };
