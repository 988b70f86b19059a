/** Converts what an agent sent into what a component can show. Nothing here throws, whatever the input. */
import type { Node, Painter } from "./model";

type Call = { call: string; args?: Record<string, unknown> };
type Json = Record<string, unknown>;

/** The functions of the basic catalogue that make a text; the daemon has read their arguments. */
const FUNCTIONS: Record<string, (args: Json) => string> = {
  formatNumber: ({ value, decimals }) =>
    number(value).toLocaleString([], decimals === undefined ? {} : fraction(number(decimals))),
  formatCurrency: ({ value, currency }) => `${number(value).toLocaleString([], fraction(2))} ${text(currency)}`,
  formatDate: ({ value }) => {
    const date = new Date(text(value));
    return Number.isNaN(date.valueOf()) ? text(value) : date.toLocaleString();
  },
  formatString: ({ value }) => text(value),
  pluralize: ({ value, one, other }) => text(number(value) === 1 ? one : other),
};

export function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (isCall(value)) return FUNCTIONS[value.call]?.(value.args ?? {}) ?? "";
  return JSON.stringify(value);
}

export function number(value: unknown, otherwise = 0): number {
  const found = typeof value === "string" && value.trim() ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : otherwise;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function records(value: unknown): Json[] {
  return list(value).filter((item): item is Json => typeof item === "object" && item !== null && !Array.isArray(item));
}

export function record(value: unknown): Json {
  return records([value])[0] ?? {};
}

export function textProperty(painter: Painter, node: Node, name: string): string {
  return text(painter.value(node, name));
}

export function hasAction(node: Node): boolean {
  return "event" in record(node.properties.action);
}

function isCall(value: object): value is Call {
  return typeof (value as Call).call === "string";
}

function fraction(digits: number): Intl.NumberFormatOptions {
  const count = Math.max(0, Math.min(20, Math.trunc(digits)));
  return { minimumFractionDigits: count, maximumFractionDigits: count };
}
