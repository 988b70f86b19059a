/** The unit tests of the page and of the extension's plain modules, on the Node that builds the page. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const alias = { vitest: path("node_modules/vitest/dist/index.js") };

export default defineConfig({
  test: {
    pool: "threads",
    projects: [
      {
        root: path("../../web"),
        resolve: { alias },
        test: { name: "page", include: ["test/**/*.test.ts"], setupFiles: ["test/setup.ts"] },
      },
      {
        root: path("../../vscode"),
        resolve: { alias: { ...alias, vscode: path("../../vscode/test/vscode.ts") } },
        test: { name: "extension", include: ["test/**/*.test.ts"], testTimeout: 20_000 },
      },
    ],
  },
});
