// Programs that misbehave: `programs.js NAME`.
"use strict";

function stop() {
  return 1; // stop here
}

function flood() {
  const line = `${"x".repeat(99)}\n`.repeat(1000);
  for (let count = 0; count < 200; count++) require("fs").writeSync(1, line);
  stop();
  console.log("finished");
}

function deep(depth) {
  return depth ? deep(depth - 1) : stop();
}

const PROGRAMS = {
  "exit-3": () => process.exit(3),
  abort: () => process.abort(),
  throws: () => { throw new TypeError("m".repeat(1_000_000)); },
  flood,
  deep: () => deep(5_000),
  busy: () => { stop(); for (;;); },
  reads: () => { console.log("read", require("fs").readFileSync(0).length); stop(); },
  child: () => { require("child_process").spawn("sleep", ["600"], { detached: true }); stop(); setTimeout(() => {}, 600_000); },
};

PROGRAMS[process.argv[2]]();
