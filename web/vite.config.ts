import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false, // the icon is the daemon's own
  build: {
    outDir: "../src/dragoman/web/built",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the content policy knows no data: addresses
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
