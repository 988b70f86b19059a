'use strict';

const DEFAULTS = { tags: [], pinned: false };

function createNote(text, options = DEFAULTS) {
  const tags = options.tags;
  if (text.endsWith('!')) {
    tags.push('urgent');
  }
  return { text, tags, pinned: options.pinned };
}

class Board {
  constructor() {
    this.notes = [];
  }

  write(text, options) {
    this.notes.push(createNote(text, options));
  }

  urgent() {
    return this.notes.filter((note) => note.tags.includes('urgent')).length;
  }
}

module.exports = { Board };
