/**
 * Where the page is: `#VIEW/PART/PART`. Where a person goes is an entry of the browser's history, so that Back leads
 * out of it.
 */

/** The view of an address that names none. */
const FIRST = "chat";

class Router extends EventTarget {
  /** The address of each view when it was left. */
  private readonly lastParts = new Map<string, readonly string[]>();
  private isStarted = false;

  /** Only the page itself has addresses; an editor shows some of its views without. */
  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.remember();
    window.addEventListener("popstate", () => {
      this.remember();
      this.dispatchEvent(new Event("change"));
      this.dispatchEvent(new Event("navigated"));
    });
  }

  get view(): string {
    return partsOf(location.hash)[0] || FIRST;
  }

  /** The address that a view shows, or showed when it was left. */
  parts(view: string): readonly string[] {
    return this.lastParts.get(view) ?? [];
  }

  /** A person went there, and what they went by shows it already. */
  push(view: string, ...parts: string[]): void {
    this.lastParts.set(view, trimmed(parts));
    const address = hashOf(view, parts);
    if (!this.isStarted || address === location.hash) return;
    history.pushState(null, "", address);
    this.dispatchEvent(new Event("change"));
  }

  /** A person is led there from another view, which then has to follow. */
  navigate(view: string, ...parts: string[]): void {
    this.push(view, ...parts);
    this.dispatchEvent(new Event("navigated"));
  }

  /** A view changed without a click: replace the address, so that "back" does not return to it. */
  replace(view: string, ...parts: string[]): void {
    this.lastParts.set(view, trimmed(parts));
    const isFirst = !location.hash && view === FIRST && !trimmed(parts).length;
    if (this.isStarted && this.view === view && !isFirst) history.replaceState(null, "", hashOf(view, parts));
  }

  /** Where a page without an address begins. */
  begin(view: string): void {
    if (this.isStarted && !location.hash) history.replaceState(null, "", hashOf(view, []));
  }

  private remember(): void {
    const [view, ...parts] = partsOf(location.hash);
    this.lastParts.set(view || FIRST, parts);
  }
}

function hashOf(view: string, parts: readonly string[]): string {
  return `#${[view, ...trimmed(parts)].map(encodeURIComponent).join("/")}`;
}

/** Empty parts at the end are left out. */
function trimmed(parts: readonly string[]): string[] {
  return parts.slice(0, parts.findLastIndex((part) => part !== "") + 1);
}

function partsOf(hash: string): string[] {
  try {
    return hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return []; // not an address of this page
  }
}

export const router = new Router();
