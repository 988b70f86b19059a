/** Builds the page of a saved session: one file with its script and its styles inside, for a recording to be put into. */
import { build, type Plugin, type Rollup } from "vite";

/** What the components of the page import, and what stands for it where there is no daemon. */
const STAND_INS: Record<string, string> = {
  "/src/link.ts": "/src/replay/file/offlineLink.ts",
  "/src/app/chatQuote.ts": "/src/replay/file/offlineChat.ts",
};

export function replayFile(): Plugin {
  let root = "";
  return {
    name: "replay-file",
    apply: "build",
    configResolved: (config) => {
      ({ root } = config);
    },
    async generateBundle() {
      const built = (await build({
        configFile: false,
        root,
        logLevel: "warn",
        publicDir: false,
        plugins: [offline(root)],
        build: {
          write: false,
          cssCodeSplit: false, // else the script would put it in, which the policy does not allow
          target: "es2022",
          reportCompressedSize: false,
          rollupOptions: {
            input: `${root}/src/replay/file/main.ts`,
            output: { format: "iife", inlineDynamicImports: true },
          },
        },
      })) as Rollup.RollupOutput;
      const style = built.output.find((it) => it.type === "asset" && it.fileName.endsWith(".css")) as Rollup.OutputAsset;
      this.emitFile({
        type: "asset",
        fileName: "replay.html",
        source: await page(inElement(built.output[0].code), String(style.source).trim()),
      });
    },
  };
}

function offline(root: string): Plugin {
  return {
    name: "offline",
    enforce: "pre",
    async resolveId(source, importer) {
      const found = await this.resolve(source, importer, { skipSelf: true });
      const standIn = found && STAND_INS[found.id.slice(root.length)];
      return standIn ? `${root}${standIn}` : found;
    },
  };
}

/** Nothing in it ends the element that it stands in. */
function inElement(code: string): string {
  return code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

/** The policy allows this script and this style, and nothing from anywhere. */
async function page(script: string, style: string): Promise<string> {
  const [scripts, styles] = [await hashOf(script), await hashOf(style)];
  const policy = `default-src 'none'; script-src ${scripts}; style-src ${styles}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dragoman</title>
<style>${style}</style>
</head>
<body>
<noscript><p>This page needs JavaScript. 本页面需要 JavaScript。</p></noscript>
<script type="application/json" id="recording">@recording@</script>
<script>${script}</script>
</body>
</html>
`;
}

async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `'sha256-${btoa(String.fromCharCode(...digest))}'`;
}
