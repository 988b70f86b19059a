/**
 * Reads whenever it is asked to, one at a time, and once more for what changed meanwhile: an older answer never comes
 * last.
 */
export function coalesced(read: () => Promise<void>): () => Promise<void> {
  let isStale = false;
  let running: Promise<void> | undefined;

  /**
   * Over in the same turn in which nothing is stale any more, so that whoever asks next begins anew. `read` is waited
   * for  at least once: by then `running` is set.
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
