import { expect, test } from "vitest";
import { Player } from "../../src/replay/player";

function playing(speed: number, end: number) {
  const frames: ((now: number) => void)[] = [];
  const seen: number[] = [];
  const player = new Player(
    (position) => (seen.push(position), position < end),
    (next) => frames.push(next),
  );
  player.speed = speed;
  return { player, seen, tick: (now: number) => frames.shift()?.(now) };
}

test("a replay moves with the clock, and faster", () => {
  const { player, seen, tick } = playing(4, 1000);
  player.play(100);
  for (const now of [1000, 1016, 1032]) tick(now);
  expect(seen).toEqual([100, 164, 228]);
  expect(player.isPlaying).toBe(true);
});

test("it ends at its end, and pauses when it is told to", () => {
  const { player, tick } = playing(16, 100);
  player.play(0);
  for (const now of [0, 1, 17]) tick(now);
  expect(player.isPlaying).toBe(false);
  const other = playing(1, 100);
  other.player.play(0);
  other.player.pause();
  other.tick(5);
  expect(other.seen).toEqual([]);
});
