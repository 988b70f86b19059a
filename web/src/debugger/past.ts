/** Stops as they were when this page saw them, with what their variables held then. The debugger itself forgets. */
import { t } from "../link";
import type { Stop } from "./answers";
import type { Node } from "./values";

const KEPT = 200;

export class Past {
  private readonly stops = new Map<string, Stop>();

  keep(stop: Stop): void {
    this.stops.set(key(stop.session_id, stop.stop_number), stop);
    if (this.stops.size > KEPT) this.stops.delete(this.stops.keys().next().value!);
  }

  at(session: string, number: number): Stop | undefined {
    return this.stops.get(key(session, number));
  }
}

/** As the tree of values shows them; they lead no further, since the program has gone on. */
export function valuesThen(stop: Stop): Node[] {
  const found = stop.top_frame_variables?.variables ?? [];
  return found.map(({ name, value, type }) => ({ name, value, type: type ?? "", reference: 0 }));
}

export function toldStop(stop: Stop): string {
  return stop.exception ? `${stop.exception.type}: ${stop.exception.message}` : t(stop.reason);
}

function key(session: string, number: number): string {
  return `${session} ${number}`;
}
