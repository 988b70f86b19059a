/** Builds dist/: the extension for Node, and its views for the browser. With --watch again at each change. */
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");
const shared = { bundle: true, sourcemap: watch, minify: !watch, logLevel: "warning", legalComments: "none" };

/** The page's parts speak to the daemon through one module; in a view another one stands in its place. */
const throughTheExtension = {
  name: "through-the-extension",
  setup({ onResolve }) {
    const page = resolve("../web/src/link");
    onResolve({ filter: /\/link$/ }, ({ importer, path }) =>
      resolve(dirname(importer), path) === page ? { path: resolve("src/webview/link.ts") } : undefined,
    );
  },
};

/** The page's bundler imports a whole folder by a pattern; here it is spelled out. */
const wholeFolders = {
  name: "whole-folders",
  setup({ onLoad }) {
    onLoad({ filter: /canvas\/components\/all\.ts$/ }, async ({ path }) => {
      if (!(await readFile(path, "utf8")).includes("import.meta.glob")) return undefined;
      const names = (await readdir(dirname(path))).filter((name) => name.endsWith(".ts") && name !== "all.ts");
      return {
        contents: names.map((name) => `import "./${name}";`).join("\n"),
        loader: "ts",
        resolveDir: dirname(path),
      };
    });
  },
};

/** Said in watching, for the task that waits for it. */
const saysWhenDone = {
  name: "says-when-done",
  setup({ onEnd }) {
    onEnd(({ errors }) => {
      if (watch && !errors.length) console.log("built");
    });
  },
};

const extension = {
  ...shared,
  plugins: [saysWhenDone],
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node22",
  external: ["vscode"],
  banner: { js: "const loadedAt = { cpu: process.cpuUsage(), clock: performance.now() };" },
};

const views = {
  ...shared,
  entryPoints: ["src/webview/chat.ts", "src/webview/canvas.ts"],
  outdir: "dist/webview",
  platform: "browser",
  format: "esm",
  target: "chrome120",
  plugins: [throughTheExtension, wholeFolders],
};

/** An editor shows pictures of a README from the net, or from the README itself: a relative link leads nowhere there. */
async function readmeWithPictures() {
  const text = await readFile("README.md", "utf8");
  const pictures = new Map();
  for (const [, path] of text.matchAll(/!\[[^\]]*\]\((media\/[\w-]+\.png)\)/g))
    pictures.set(path, await readFile(path, "base64"));
  return text.replace(/\]\((media\/[\w-]+\.png)\)/g, (_, path) => `](data:image/png;base64,${pictures.get(path)})`);
}

await mkdir("dist/webview", { recursive: true });
await writeFile("dist/README.md", await readmeWithPictures());
await copyFile("../requirements.txt", "dist/requirements.txt");
await copyFile("src/webview/view.css", "dist/webview/view.css");
if (watch) await Promise.all([extension, views].map(async (one) => (await context(one)).watch()));
else await Promise.all([extension, views].map((one) => build(one)));
