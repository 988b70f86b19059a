/** The daemon's own source: what both sides must agree on is read from there. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "../src/dragoman";

/** The modules that hold a certain text, wherever they are. */
export function pythonSource(holding: string): string {
  return readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".py"))
    .map((path) => readFileSync(join(FOLDER, path), "utf8"))
    .filter((text) => text.includes(holding))
    .join("\n");
}
