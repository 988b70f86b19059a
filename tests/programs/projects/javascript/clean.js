require("node:fs").rmSync("prepared.txt", { force: true });
