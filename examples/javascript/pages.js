// Puts 10 items on pages of 4. All 10 should be shown; the last 2 are not.
"use strict";

function page(items, number, size) {
  const from = number * size;
  return items.slice(from, from + size);
}

function show(items, size) {
  const pages = Math.floor(items.length / size);
  let shown = 0;
  for (let number = 0; number < pages; number++) {
    shown += page(items, number, size).length;
  }
  return shown;
}

console.log("shown", show(Array.from({ length: 10 }, (_, at) => at), 4));
