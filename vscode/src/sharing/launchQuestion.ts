/**
 * What a person is asked before an agent starts something with a debugger of this editor: all of it, nothing hidden.
 */
import { createHash } from "node:crypto";
import * as vscode from "vscode";

import type { Json } from "../bridge/rpcConnection";
import { escapeHidden } from "../bridge/notificationText";
import type { BreakpointRequest } from "./requestedBreakpoints";

const t = vscode.l10n.t;

export interface LaunchQuestion {
  wanted: vscode.DebugConfiguration;
  folder: string;
  by: string;
  isRun: boolean;
  /** Breakpoints that agents have set: some debuggers take a condition for a command of their console. */
  texts: Json[];
}

/** The texts that go to the debugger with the breakpoints of a start, each with its place. */
export function breakpointTexts(lists: readonly Json[]): Json[] {
  return lists.flatMap(({ source, breakpoints }) =>
    (breakpoints as BreakpointRequest[])
      .filter(({ condition, hitCondition, logMessage }) => condition || hitCondition || logMessage)
      .map(({ line, condition, hitCondition, logMessage }) => ({
        at: `${String((source as Json).path)}:${line}`,
        ...(condition && { condition }),
        ...(hitCondition && { hitCondition }),
        ...(logMessage && { logMessage }),
      })),
  );
}

export function questionText({ wanted, folder, by, isRun, texts }: LaunchQuestion): string {
  const whole = JSON.stringify(withoutValues(wanted));
  const start = isRun
    ? t(
        "{0} wants to run this with the debugger {1} in {2}, without debugging (always: exactly this): {3}",
        by,
        wanted.type,
        folder,
        whole,
      )
    : t(
        "{0} wants to start this with the debugger {1} in {2} (always: exactly this): {3}",
        by,
        wanted.type,
        folder,
        whole,
      );
  return texts.length
    ? `${start} ${t("Its breakpoints pass this to the debugger: {0}", JSON.stringify(texts))}`
    : start;
}

export function shortQuestionText({ wanted, folder, by }: LaunchQuestion): string {
  return t(
    "{0} wants to start {1} with the debugger {2} in {3} (always: exactly this). All of its configuration is open in the editor.",
    by,
    wanted.name.slice(0, 60),
    wanted.type,
    folder,
  );
}

/**
 * What a notification would cut off, as a document. A line break inside a text is an escape of JSON: lines are ours.
 */
export function questionDocument({ wanted, texts }: LaunchQuestion): string {
  const parts = [written(withoutValues(wanted))];
  if (texts.length)
    parts.push(`// ${t("Its breakpoints pass this to the debugger: {0}", "")}`.trimEnd(), written(texts));
  return parts.join("\n");
}

export function digest({ wanted, folder, isRun, texts }: LaunchQuestion): string {
  return createHash("sha256")
    .update(JSON.stringify([sorted(wanted), folder, isRun, sorted(texts)]))
    .digest("hex");
}

function written(value: unknown): string {
  return JSON.stringify(value, undefined, 2).split("\n").map(spelledLine).join("\n");
}

/** Without the common indent. */
function spelledLine(line: string): string {
  const text = line.trimStart();
  return line.slice(0, line.length - text.length) + escapeHidden(text);
}

/** Values of the environment may be secrets; their names say what is changed. */
function withoutValues({ env, environment, ...rest }: vscode.DebugConfiguration): Json {
  const listed: unknown[] = Array.isArray(environment)
    ? environment.map((it: Json | null) => it?.name)
    : Object.keys((environment as Json | undefined) ?? {});
  const names = [...Object.keys((env as Json | undefined) ?? {}), ...listed];
  return names.length ? { ...rest, env: names } : rest;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, it]) => [key, sorted(it)]);
}
