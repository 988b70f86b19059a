/** Folders and programs of a test's own. */
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export function room(): Promise<string> {
  return mkdtemp(join(tmpdir(), "dragoman-"));
}

/** A program of a few lines of shell. */
export async function program(path: string, ...lines: string[]): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  await chmod(path, 0o755);
  return path;
}
