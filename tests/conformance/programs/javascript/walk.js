const fs = require("fs");
const { spawnSync } = require("child_process");
const { Worker, isMainThread, workerData } = require("worker_threads");

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function twice(n) {
  let result = n * 2; // @computes
  return result; // @returns
}

function lap() {
  let total = 0; // @home
  // @moved
  let first = 0; // @bound
  const point = { x: 1, inner: { deep: 42 } };
  const big = Array.from({ length: 1000 }, (_, index) => index);
  first = twice(1); const second = twice(first); // @columns
  for (let n = 0; n < 10; n++) {
    total += twice(n); // @calls
    console.log("total " + total); // @prints
  }
  console.error("warned");
  sleep(5); // @done
  return total + second + big.length + point.x;
}

function walk() {
  setImmediate(walk);
  lap();
}

function once() {
  console.log("read " + fs.readFileSync(0, "utf8").trim());
  console.log("env " + process.env.WHO + " cwd " + process.cwd()); // @reads
  lap();
  process.exitCode = 3;
}

function risky(n) {
  if (n > 2) {
    throw new TypeError("too large: " + n); // @raises
  }
  return n;
}

function fails() {
  try {
    risky(3);
  } catch {
    console.log("caught");
  }
  risky(4); // @uncaught
}

function work(number) {
  let worked = 0;
  for (;;) {
    worked += number; // @works
    sleep(10);
  }
}

function threads() {
  for (const number of [1, 2]) {
    new Worker(__filename, { workerData: number });
  }
}

function child() {
  const code = spawnSync(process.execPath, [__filename, "born"], { stdio: "inherit" }).status;
  console.log("child " + code);
}

function born() {
  const inner = twice(21); // @born
  console.log("born " + inner);
  process.exitCode = 5;
}

function killed() {
  process.kill(process.pid, "SIGKILL");
}

const modes = { walk, once, fails, threads, child, born, killed };
if (isMainThread) {
  modes[process.argv[2]]();
} else if (workerData === 2) {
  work(workerData);
} else {
  setInterval(() => {}, 1000);
}
