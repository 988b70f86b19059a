import { afterEach, beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { router } from "../../src/app/router";
import { TerminalsController } from "../../src/terminals/terminalsController";
import { daemon, held, host, Refused, settled, type Json } from "../daemon";

const command = (command_id: string, terminal = "t1", words = "make") => ({ command_id, terminal, command: words });
let controller: TerminalsController;
let found: Json;

beforeEach(async () => {
  found = { commands: [command("c2"), command("c1")], output_hits: [], next_before: null };
  daemon.start({
    list_terminals: () => ({ terminals: [{ terminal: "t1", running: command("t1:running", "t1", "sleep 9") }] }),
    search_commands: () => found,
    get_command_output: ({ command_id, offset }) =>
      offset
        ? { command: command(String(command_id)), output: "third\nfourth", next_offset: null }
        : { command: command(String(command_id)), output: "first\nsecond", next_offset: 12 },
  });
  router.replace("terminals");
  controller = new TerminalsController(host() as never);
  controller.hostConnected();
  await controller.refresh();
});
afterEach(() => controller.hostDisconnected());

const ids = () => controller.listed.map(({ command_id }) => command_id);
const gone = () => {
  throw new Refused({ message: "No such command." });
};

test("running commands stand before ended ones, as far as they fit the search", async () => {
  expect(ids()).toEqual(["t1:running", "c2", "c1"]);
  controller.query = "SLEEP";
  expect(ids()[0]).toBe("t1:running");
  controller.query = "make";
  expect(ids()).toEqual(["c2", "c1"]);
  Object.assign(controller, { query: "", onlyFailed: true });
  expect(ids()).toEqual(["c2", "c1"]);
});

test("older commands are added at the end, and stay when something new comes before them", async () => {
  found = { ...found, next_before: "c1" };
  await controller.search();
  found = { ...found, commands: [command("c0")], next_before: null };
  await Promise.all([controller.readOlder(), controller.readOlder()]);
  expect(ids().slice(1)).toEqual(["c2", "c1", "c0"]);
  expect(daemon.asked.filter(([, { before }]) => before === "c1")).toHaveLength(1);
  found = { ...found, commands: [command("c3"), command("c2"), command("c1")] };
  await controller.search();
  expect(ids().slice(1)).toEqual(["c3", "c2", "c1", "c0"]);
  controller.query = "make";
  await controller.search(); // another list
  expect(ids()).toEqual(["c3", "c2", "c1"]);
});

test("of two searches the later one counts, whichever answer comes last", async () => {
  const { answer, given } = held();
  daemon.answers["search_commands"] = answer;
  const searches = [controller.search(), controller.search()];
  given[1]!({ ...found, commands: [command("new")] });
  given[0]!({ ...found, commands: [command("old")] });
  await Promise.all(searches);
  expect(ids()).toContain("new");
  expect(ids()).not.toContain("old");
});

test("a selected terminal shows its screen, and its commands of every folder", async () => {
  controller.select("t1");
  await settled();
  expect([controller.pane, controller.isReading, router.parts("terminals")]).toEqual(["screen", true, ["t1"]]);
  expect(daemon.askedFor("search_commands").at(-1)).toMatchObject({ terminal: "t1", wide: true });
  controller.select("");
  expect([controller.pane, controller.isReading]).toEqual(["output", false]);
});

test("output is read page by page, up to the line that a search found", async () => {
  await controller.read("c1");
  expect(controller.lines).toEqual(["first", "second"]);
  await Promise.all([controller.readMore(), controller.readMore()]);
  expect(controller.lines).toEqual(["first", "second", "third", "fourth"]);
  expect(daemon.asked.filter(([, { offset }]) => offset === 12)).toHaveLength(1);
  await controller.read("c1", "fourth…");
  expect([controller.foundLine, controller.nextOffset]).toEqual([3, null]);
});

test("the output of a command that was left meanwhile is not shown", async () => {
  const { answer, given } = held();
  daemon.answers["get_command_output"] = answer;
  const reads = [controller.read("c1"), controller.read("c2")];
  given[1]!({ command: command("c2"), output: "two", next_offset: null });
  given[0]!({ command: command("c1"), output: "one", next_offset: null });
  await Promise.all(reads);
  expect([controller.command?.command_id, controller.lines]).toEqual(["c2", ["two"]]);
});

test("a running command that has ended is opened under its new id", async () => {
  daemon.answers["get_command_output"] = ({ command_id }) =>
    command_id === "t1:running" ? gone() : { command: command(String(command_id)), output: "", next_offset: null };
  await controller.read("t1:running");
  expect(controller.command?.command_id).toBe("c2");
});

test("a command or a terminal that no longer exists is named, and leaves the address", async () => {
  daemon.answers["get_command_output"] = gone;
  await controller.read("c9");
  expect([controller.notice, router.parts("terminals")]).toEqual(["This command is no longer in the record.", []]);
  found = { ...found, commands: [] };
  router.navigate("terminals", "t9");
  controller.hostDisconnected();
  controller.hostConnected();
  await vi.waitFor(() => expect(controller.notice).toBe("The terminal in this address no longer exists."));
  expect([controller.selected, router.parts("terminals")]).toEqual(["", []]);
});

test("an erased record closes what is open, and a refused search is shown", async () => {
  await controller.read("c1");
  daemon.listener.erased?.();
  expect([controller.command, controller.lines, controller.nextOffset]).toEqual([null, [], null]);
  daemon.answers["search_commands"] = gone;
  await controller.search();
  expect(controller.error).toBe("No such command.");
});

test("events within a moment cause one refresh", async () => {
  const count = () => daemon.askedFor("search_commands").length;
  const before = count();
  daemon.listener.events?.([]);
  daemon.listener.events?.([]);
  await vi.waitFor(() => expect(count()).toBe(before + 1));
});
