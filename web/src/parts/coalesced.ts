/** Reads on request, one at a time, and once more for changes during a read: an older answer never arrives last. */
export function coalesced(read: () => Promise<void>): () => Promise<void> {
  let isStale = false;
  let running: Promise<void> | undefined;

  /**
   * Ends in the same turn in which nothing is stale any more, so that the next caller starts again. `read` is awaited
   * at least once: by then `running` is set.
   */
  async function whileStale(): Promise<void> {
    try {
      while (isStale) {
        isStale = false;
        await read();
      }
    } finally {
      running = undefined;
    }
  }

  return () => {
    isStale = true;
    running ??= whileStale();
    return running;
  };
}
