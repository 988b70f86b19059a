import { delimiter, join } from "node:path";
import { expect, test } from "vitest";

import { findProgram, type SearchLocations } from "../../src/daemon/programSearch";
import { program, room } from "../temporaryFolders";

const SAYS = (version: string) => `echo "dragoman ${version}"`;

async function where(): Promise<SearchLocations & { home: string; environment: NodeJS.ProcessEnv }> {
  const base = await room();
  return {
    named: "",
    folders: [join(base, "project")],
    own: join(base, "own"),
    home: join(base, "home"),
    environment: { PATH: "" },
  };
}

test("the workspace's environment comes before PATH, PATH before uv and pipx, our own last", async () => {
  const it = await where();
  const [project = ""] = it.folders;
  const path = join(it.home, "..", "bin");
  await program(join(it.own, "bin", "dragoman"), SAYS("4"));
  expect(await findProgram(it)).toMatchObject({ version: "4", origin: "own" });
  await program(join(it.home, ".local/bin/dragoman"), SAYS("3"));
  expect(await findProgram(it)).toMatchObject({ version: "3", origin: "uv" });
  await program(join(path, "dragoman"), SAYS("2"));
  it.environment.PATH = ["/nowhere", path].join(delimiter);
  expect(await findProgram(it)).toMatchObject({ version: "2", origin: "PATH" });
  await program(join(project, ".venv", "bin", "dragoman"), SAYS("1"));
  expect(await findProgram(it)).toMatchObject({ version: "1", origin: "workspace" });
  expect(await findProgram({ ...it, folders: [] })).toMatchObject({ version: "2" }); // not trusted
});

test("the interpreter that was chosen for the workspace comes first", async () => {
  const it = await where();
  const beside = await program(join(it.home, "chosen", "bin", "dragoman"), SAYS("5"));
  expect(await findProgram({ ...it, interpreter: join(beside, "..", "python") })).toMatchObject({
    version: "5",
    origin: "interpreter",
  });
});

test("what is named is used or nothing is, and a Python is asked for its module", async () => {
  const it = await where();
  await program(join(it.own, "bin", "dragoman"), SAYS("4"));
  expect(await findProgram({ ...it, named: "/nowhere/dragoman" })).toBeUndefined();
  const python = await program(
    join(it.home, "python3.12"),
    `test "$*" = "-P -m dragoman.cli.main --version" && ${SAYS("6")}`,
  );
  expect(await findProgram({ ...it, named: python })).toEqual({
    path: python,
    args: ["-P", "-m", "dragoman.cli.main"],
    version: "6",
    origin: "setting",
  });
});

test("a file of that name that is something else is passed over", async () => {
  const it = await where();
  await program(join(it.home, ".local/bin/dragoman"), "echo dragon 1.0");
  await program(join(it.own, "bin", "dragoman"), SAYS("4"));
  expect(await findProgram(it)).toMatchObject({ origin: "own" });
});
