// Rings three alarms. It should print 1, 2 and 3; it prints 4 three times.
"use strict";

function alarms(count) {
  const all = [];
  for (var n = 1; n <= count; n++) {
    all.push(() => n);
  }
  return all;
}

for (const ring of alarms(3)) {
  const rung = ring();
  console.log("alarm", rung);
}
