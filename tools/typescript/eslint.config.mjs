/** The gates for the page (web/) and the VS Code extension (vscode/). Run from the root of the checkout. */
import { fileURLToPath } from "node:url";
import lit from "eslint-plugin-lit";
import tseslint from "typescript-eslint";

const project = (name) => fileURLToPath(new URL(name, import.meta.url));

export default tseslint.config(
  { files: ["**/*.ts"], extends: [...tseslint.configs.recommendedTypeChecked, lit.configs["flat/recommended"]] },
  {
    files: ["**/*.ts"],
    languageOptions: {
      parserOptions: {
        project: ["tsconfig.page.json", "tsconfig.extension.json", "tsconfig.webview.json"].map(project),
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "eqeqeq": "error",
      "no-console": "error",
      "prefer-const": "error",
      "max-len": [
        "error",
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        {
          ignoreRestSiblings: true,
          argsIgnorePattern: "^_",
          varsIgnorePattern: "^_$",
          destructuredArrayIgnorePattern: "^_",
        },
      ],
      // A message from the wire is unknown until it is read; String() is how its texts are read.
      "@typescript-eslint/no-base-to-string": "off",
      // A handler is async because its caller awaits it, whether or not it waits for something itself.
      "@typescript-eslint/require-await": "off",
      // Its fix removes assertions that the compiler needs.
      "@typescript-eslint/no-unnecessary-type-assertion": "off",
      // Lit binds the event listeners of a template to its element.
      "@typescript-eslint/unbound-method": "off",
      "@typescript-eslint/naming-convention": [
        "error",
        { selector: "typeLike", format: ["PascalCase"] },
        { selector: "function", format: ["camelCase"] },
        { selector: "classMethod", format: ["camelCase"] },
      ],
    },
  },
  {
    // A stand-in for a part of the editor has only what its test needs.
    files: ["**/test/**/*.ts"],
    rules: {
      "no-console": "off",
      "@typescript-eslint/no-redundant-type-constituents": "off",
      ...Object.fromEntries(
        ["argument", "assignment", "call", "member-access", "return"].map((use) => [
          `@typescript-eslint/no-unsafe-${use}`,
          "off",
        ]),
      ),
    },
  },
);
