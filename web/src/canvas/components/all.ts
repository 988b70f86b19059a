/** Every component that can be drawn: whatever file stands here is one, or a few that belong together. */
import.meta.glob(["./*.ts", "!./all.ts"], { eager: true });
