/** All components: each file in this folder holds one, or a few that belong together. */
import.meta.glob(["./*.ts", "!./all.ts"], { eager: true });
