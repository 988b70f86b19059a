import { defineConfig, type Plugin } from "vite";
import { replayFile } from "./replayFile";

/** All code is fetched with the page, while the daemon that serves it is there. A view that were fetched when it is first
 *  shown could come from another user's program, which took the port meanwhile. */
const everythingAtOnce: Plugin = {
  name: "everything-at-once",
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle }) =>
      Object.values(bundle ?? {})
        .filter(({ type, fileName }) => type === "chunk" && !html.includes(fileName))
        .map(({ fileName }) => ({
          tag: "link",
          attrs: { rel: "modulepreload", crossorigin: true, href: `/${fileName}` },
          injectTo: "head",
        })),
  },
};

export default defineConfig({
  plugins: [everythingAtOnce, replayFile()],
  publicDir: false, // the icon is the daemon's own
  build: {
    outDir: "../src/dragoman/servers/web/built",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the content policy knows no data: addresses
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
