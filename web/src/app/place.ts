/** Where the page is: `#VIEW/PART/PART`. Where a person goes is an entry of the browser's history, so that Back leads out of it. */

/** The view of an address that names none. */
const FIRST = "chat";

class Place extends EventTarget {
  /** Where each view was left. */
  private readonly kept = new Map<string, readonly string[]>();
  private isBegun = false;

  /** Only the page itself has addresses; an editor shows some of its views without. */
  begin(): void {
    if (this.isBegun) return;
    this.isBegun = true;
    this.keep();
    window.addEventListener("popstate", () => {
      this.keep();
      this.dispatchEvent(new Event("change"));
      this.dispatchEvent(new Event("led"));
    });
  }

  get view(): string {
    return partsOf(location.hash)[0] || FIRST;
  }

  /** What a view shows, or showed when it was left. */
  of(view: string): readonly string[] {
    return this.kept.get(view) ?? [];
  }

  /** A person went there, and what they went by shows it already. */
  go(view: string, ...parts: string[]): void {
    this.kept.set(view, trimmed(parts));
    const address = addressOf(view, parts);
    if (!this.isBegun || address === location.hash) return;
    history.pushState(null, "", address);
    this.dispatchEvent(new Event("change"));
  }

  /** A person is led there from another view, which then has to follow. */
  lead(view: string, ...parts: string[]): void {
    this.go(view, ...parts);
    this.dispatchEvent(new Event("led"));
  }

  /** A view shows something else by itself: the address says so, and there is nothing to go back to. */
  become(view: string, ...parts: string[]): void {
    this.kept.set(view, trimmed(parts));
    const isFirst = !location.hash && view === FIRST && !trimmed(parts).length;
    if (this.isBegun && this.view === view && !isFirst) history.replaceState(null, "", addressOf(view, parts));
  }

  private keep(): void {
    const [view, ...parts] = partsOf(location.hash);
    this.kept.set(view || FIRST, parts);
  }
}

function addressOf(view: string, parts: readonly string[]): string {
  return `#${[view, ...trimmed(parts)].map(encodeURIComponent).join("/")}`;
}

/** What is empty at the end says nothing. */
function trimmed(parts: readonly string[]): string[] {
  return parts.slice(0, parts.findLastIndex((part) => part !== "") + 1);
}

function partsOf(hash: string): string[] {
  try {
    return hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return []; // somebody's own idea of an address
  }
}

export const place = new Place();
