/** The page of a view: one script and one sheet of our own, and nothing else may be loaded, run or reached. */
import { randomBytes } from "node:crypto";

export interface WebviewPage {
  title: string;
  language: string;
  tag: string;
  /** That was open before. */
  conversation?: string;
  script: string;
  style: string;
  /** The address under which the editor serves our files. */
  source: string;
}

export function html({ title, language, tag, conversation = "", script, style, source }: WebviewPage): string {
  const nonce = randomBytes(16).toString("base64url");
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}; img-src ${source}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="${language.startsWith("zh") ? "zh" : "en"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${style}">
</head>
<body data-conversation="${escaped(conversation)}"><${tag}></${tag}><script type="module" nonce="${nonce}" src="${script}"></script></body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
