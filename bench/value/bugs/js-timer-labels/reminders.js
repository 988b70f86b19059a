'use strict';

class Clock {
  constructor() {
    this.waiting = [];
  }

  after(minutes, callback) {
    this.waiting.push({ minutes, callback });
  }

  run() {
    this.waiting.sort((a, b) => a.minutes - b.minutes);
    this.waiting.forEach((it) => it.callback());
  }
}

function schedule(clock, names, send) {
  for (var i = 0; i < names.length; i++) {
    clock.after(10 * i, () => {
      const name = names[i];
      send(`wake up, ${name}`);
    });
  }
}

function wakeAll(names) {
  const sent = [];
  const clock = new Clock();
  schedule(clock, names, (text) => sent.push(text));
  clock.run();
  return sent;
}

module.exports = { wakeAll };
