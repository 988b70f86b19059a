/** For the end of a socket: in Node 22 a connection that fails is told as an error, and never as closed. */
export function once(act: (end: Event) => void): (end: Event) => void {
  let isDone = false;
  return (end) => {
    if (isDone) return;
    isDone = true;
    act(end);
  };
}
