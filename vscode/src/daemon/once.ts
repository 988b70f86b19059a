/** For the end of a socket: in Node 22 a failed connection emits `error` and never `close`. */
export function once(act: (end: Event) => void): (end: Event) => void {
  let isDone = false;
  return (end) => {
    if (isDone) return;
    isDone = true;
    act(end);
  };
}
