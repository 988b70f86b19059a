/** Plays a replay: its position moves with the clock, faster or as it was. */

export const SPEEDS = [1, 2, 4, 8, 16] as const;

export class Player {
  isPlaying = false;
  speed = 1;
  private position = 0;
  private last = 0;
  private frame = 0;

  /** `moved` gets each new position, and says whether there is more after it. */
  constructor(
    private readonly moved: (position: number) => boolean,
    private readonly schedule: (next: (now: number) => void) => number = (next) => requestAnimationFrame(next),
  ) {}

  play(from: number): void {
    if (this.isPlaying) return;
    [this.isPlaying, this.position, this.last] = [true, from, 0];
    this.frame = this.schedule(this.step);
  }

  pause(): void {
    this.isPlaying = false;
    if (this.frame && typeof cancelAnimationFrame === "function") cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private readonly step = (now: number): void => {
    if (!this.isPlaying) return;
    if (this.last) this.position += (now - this.last) * this.speed;
    this.last = now;
    if (this.moved(this.position)) this.frame = this.schedule(this.step);
    else this.pause();
  };
}
