/** Reads whenever it is asked to, one at a time, and once more for what changed meanwhile: an older answer never comes last. */
export function anew(read: () => Promise<void>): () => Promise<void> {
  let isStale = false;
  let going: Promise<void> | undefined;

  async function whileStale(): Promise<void> {
    while (isStale) {
      isStale = false;
      await read();
    }
  }

  return () => {
    isStale = true;
    going ??= whileStale().finally(() => {
      going = undefined;
    });
    return going;
  };
}
