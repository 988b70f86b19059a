import { t } from "../link";
import "./chinese";
import type { DemoLine } from "./demo";

/** How the demo ended: with what the agent concluded, or with why it did not. */
export function demoEndText({ lines }: { lines: readonly DemoLine[] }): string {
  const end = lines.at(-1);
  if (end?.kind === "done") {
    const cause = lines.findLast(({ kind }) => kind === "thinks")?.text ?? "";
    return `${t("The agent found the bug in {seconds} seconds.", { seconds: end.text })} ${cause}`;
  }
  return end?.kind === "failed" ? end.text : t("The demo did not finish.");
}
