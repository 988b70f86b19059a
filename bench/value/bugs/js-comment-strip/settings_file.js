'use strict';

function stripComments(text) {
  const found = text.match(/\/\*.*\*\//g);
  const stripped = text.replace(/\/\*.*\*\//g, '');
  return found ? stripped : text;
}

function parse(text) {
  const settings = {};
  for (const part of stripComments(text).split(';')) {
    const [key, value] = part.split('=').map((it) => it.trim());
    if (key) {
      settings[key] = value;
    }
  }
  return settings;
}

function volume(text) {
  return Number(parse(text).volume ?? 50);
}

module.exports = { volume };
