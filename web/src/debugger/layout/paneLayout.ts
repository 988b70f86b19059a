/** How large the panes are and which are folded, as the person left them. */
import { changePreferences, ignoreUnreachable, savedPreferences } from "../../link";

/** A drag ends in many sizes: only the last one is kept. */
const KEPT_AFTER_MS = 400;

export interface PaneSize {
  size: number;
  least: number;
  most: number;
}

/** The size that a key of a splitter leads to; null where the key is none of its own. */
export function sizeByKey(key: string, { size, least, most }: PaneSize, isShift: boolean, standard: number) {
  const step = isShift ? 64 : 16;
  const wanted: Record<string, number> = {
    ArrowLeft: size - step,
    ArrowUp: size - step,
    ArrowRight: size + step,
    ArrowDown: size + step,
    Home: least,
    End: most,
    Enter: standard,
  };
  return key in wanted ? clamped(wanted[key]!, least, most) : null;
}

export function clamped(size: number, least: number, most: number): number {
  return Math.round(Math.max(least, Math.min(size, most)));
}

export class PaneLayout {
  private sizes: Record<string, number> = {};
  private folded = new Set<string>();
  private unsaved: Record<string, number> = {};
  private timer = 0;

  constructor(private readonly changed: () => void) {
    void this.load().catch(ignoreUnreachable);
  }

  size(pane: string): number | undefined {
    return this.sizes[pane];
  }

  isFolded(pane: string): boolean {
    return this.folded.has(pane);
  }

  resize(pane: string, size: number): void {
    this.sizes = { ...this.sizes, [pane]: size };
    this.unsaved[pane] = size;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.save(), KEPT_AFTER_MS);
    this.changed();
  }

  fold(pane: string): void {
    const isFolded = this.folded.delete(pane);
    if (!isFolded) this.folded.add(pane);
    this.changed();
    void changePreferences(isFolded ? { unfold: pane } : { fold: pane }).catch(ignoreUnreachable);
  }

  private save(): void {
    const sizes = this.unsaved;
    this.unsaved = {};
    void changePreferences({ pane_sizes: sizes }).catch(ignoreUnreachable);
  }

  /** What was changed while it was read counts more. */
  private async load(): Promise<void> {
    const { pane_sizes, folded_panes } = await savedPreferences();
    this.sizes = { ...pane_sizes, ...this.sizes };
    this.folded = new Set([...folded_panes, ...this.folded]);
    this.changed();
  }
}
