// Values that harm whoever looks at them: `values.js NAME...` stops with one after another in `value`.
"use strict";

function cyclic() {
  const value = [{}];
  value[0].back = value;
  value.push(value);
  return value;
}

function withAMillionFields() {
  const value = {};
  for (let number = 0; number < 1_000_000; number++) value[`field_${number}`] = number;
  return value;
}

function nested() {
  let value = [];
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  return value;
}

const VALUES = {
  string: () => "s".repeat(100_000_000),
  list: () => Array.from({ length: 1_000_000 }, (_, number) => number),
  map: () => new Map(Array.from({ length: 1_000_000 }, (_, number) => [`key_${number}`, number])),
  fields: withAMillionFields,
  cyclic,
  nested,
  "getter-raises": () => ({ get harmless() { throw new Error("no value for you"); } }),
  "getter-endless": () => ({ get harmless() { for (;;); } }),
  "text-endless": () => ({ toString() { for (;;); } }),
  "text-raises": () => ({ toString() { throw new Error("no text for you"); } }),
  proxy: () => new Proxy({}, { get() { throw new Error("asked"); }, ownKeys() { throw new Error("asked"); } }),
  invisible: () => "\ud800 \0 \u001b[2J \u202e \u{e0041}",
};

function look(value) {
  return value; // stop here
}

for (const name of process.argv.slice(2)) look(VALUES[name]());
console.log("done");
