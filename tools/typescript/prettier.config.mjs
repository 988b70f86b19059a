/** @type {import("prettier").Config} */
export default {
  printWidth: 120,
  quoteProps: "consistent",
  // A space between two tags can be seen on the page: the formatter neither adds nor removes one.
  htmlWhitespaceSensitivity: "strict",
};
