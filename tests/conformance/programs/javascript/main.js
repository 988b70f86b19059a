const fs = require("fs");

function twice(n) {
  let result = n * 2;
  return result;
}

if (process.argv.length > 2) {
  console.log("read " + fs.readFileSync(0, "utf8").trim());
}

let total = 0;
for (let n = 0; n < 10; n++) {
  total += twice(n);
  console.log("total " + total);
}
process.exitCode = 3;
