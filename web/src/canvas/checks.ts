/** The checks of the basic catalogue: what must hold before an input is good or a button may be pressed. */
import { number, record, records, text } from "./values";

type Json = Record<string, unknown>;
type Get = (path: string) => unknown;

/**
 * What an agent's `regex` asks for is not tried here: one pattern can keep a browser busy for ever. The agent sees the
 * value in any case.
 */
const TESTS: Record<string, (args: Json) => boolean> = {
  required: ({ value }) =>
    !(
      value === null ||
      value === undefined ||
      value === "" ||
      value === false ||
      (Array.isArray(value) && !value.length)
    ),
  length: ({ value, min, max }) => within(text(value).length, min, max),
  numeric: ({ value, min, max }) => Number.isFinite(number(value, NaN)) && within(number(value), min, max),
  email: ({ value }) => /^[^\s@]{1,64}@[^\s@.]{1,63}(?:\.[^\s@.]{1,63}){1,8}$/.test(text(value)),
  and: ({ values }) => Array.isArray(values) && values.every(Boolean),
  or: ({ values }) => Array.isArray(values) && values.some(Boolean),
  not: ({ value }) => !value,
};

/** The messages of the checks that do not hold. */
export function failedChecks(checks: unknown, get: Get): string[] {
  return records(checks)
    .filter((check) => valueOf(check.condition ?? { call: check.call, args: check.args }, get, 0) === false)
    .map((check) => text(check.message));
}

function valueOf(value: unknown, get: Get, depth: number): unknown {
  if (depth > 20 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => valueOf(item, get, depth + 1));
  const { path, call, args } = value as Json;
  if (typeof path === "string") return get(path);
  if (typeof call !== "string") return value;
  const given = Object.fromEntries(
    Object.entries(record(args)).map(([name, arg]) => [name, valueOf(arg, get, depth + 1)]),
  );
  return TESTS[call]?.(given) ?? true;
}

function within(value: number, min: unknown, max: unknown): boolean {
  return value >= number(min, -Infinity) && value <= number(max, Infinity);
}

/** A place in the data, by JSON Pointer; relative to an item of a list where it does not begin with a slash. */
export function absolutePointer(path: string, scope: string): string {
  return path.startsWith("/") || !path ? path : `${scope}/${path}`;
}

export function resolvePointer(data: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((at, token) => {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      return typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Json)[key] : undefined;
    }, data);
}
