require("node:fs").writeFileSync("prepared.txt", `prepared in ${process.cwd()}`);
