/** What the page's modules use of a browser, as far as they need one without drawing anything. */
import { beforeEach, vi } from "vitest";

class MemoryStorage {
  private readonly items = new Map<string, string>();
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.items.set(key, value);
  }
  removeItem(key: string): void {
    this.items.delete(key);
  }
  clear(): void {
    this.items.clear();
  }
}

vi.stubGlobal("document", {
  documentElement: { dataset: { language: "en" }, style: {} },
  createTreeWalker: () => ({}), // Lit makes one when it is loaded
  createComment: () => ({}),
});
vi.stubGlobal("window", globalThis);
vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("navigator", { language: "en-GB" });
vi.stubGlobal("sessionStorage", new MemoryStorage());

beforeEach(() => sessionStorage.clear());
