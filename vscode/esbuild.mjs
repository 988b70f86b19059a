/** Builds dist/: the extension for Node. With --watch again at each change. */
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");
const shared = { bundle: true, sourcemap: watch, minify: !watch, logLevel: "warning", legalComments: "none" };

const builds = [
  {
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    platform: "node",
    format: "cjs",
    target: "node22",
    external: ["vscode"],
  },
];

if (watch) await Promise.all(builds.map(async (one) => (await context(one)).watch()));
else await Promise.all(builds.map((one) => build(one)));
