import { defineConfig } from "vitest/config";

export default defineConfig({
  // The editor is no package: a test that needs a part of it brings a stand-in.
  resolve: { alias: { vscode: new URL("test/vscode.ts", import.meta.url).pathname } },
  test: { include: ["test/**/*.test.ts"], testTimeout: 20_000 },
});
