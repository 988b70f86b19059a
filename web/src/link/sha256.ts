/**
 * HMAC-SHA256 by the browser. A page that another machine serves under a plain address has no `crypto.subtle` (it is no
 * secure context): there it is computed here, by FIPS 180-4.
 */

export async function hmacSha256(secret: string, pieces: Uint8Array[]): Promise<string> {
  const key = new TextEncoder().encode(secret);
  const data = joined(pieces);
  const { subtle } = crypto as { subtle?: typeof crypto.subtle };
  if (!subtle) return hex(plainHmac(key, data));
  const imported = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(new Uint8Array(await subtle.sign("HMAC", imported, data)));
}

export function plainHmac(key: Uint8Array, data: Uint8Array): Uint8Array {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(joined([block.map((it) => it ^ 0x36), data]));
  return sha256(joined([block.map((it) => it ^ 0x5c), inner]));
}

const PRIMES = primes(64);
const ROUNDS = PRIMES.map((it) => fraction(Math.cbrt(it)));
const START = PRIMES.slice(0, 8).map((it) => fraction(Math.sqrt(it)));

export function sha256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((data.length + 9) / 64) * 64);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 0x20000000));
  view.setUint32(padded.length - 4, (data.length << 3) >>> 0);
  const state = Uint32Array.from(START);
  for (let at = 0; at < padded.length; at += 64) mix(state, view, at);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((it, index) => digest.setUint32(index * 4, it));
  return new Uint8Array(digest.buffer);
}

function mix(state: Uint32Array, view: DataView, at: number): void {
  const w = new Uint32Array(64);
  for (let i = 0; i < 64; i++) w[i] = i < 16 ? view.getUint32(at + i * 4) : scheduled(w, i);
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t1 = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!) >>> 0;
    const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) >>> 0, c, b, a, (t1 + t2) >>> 0];
  }
  [a, b, c, d, e, f, g, h].forEach((it, index) => (state[index] = state[index]! + it));
}

function scheduled(w: Uint32Array, i: number): number {
  const [x, y] = [w[i - 15]!, w[i - 2]!];
  return w[i - 16]! + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7]! + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
}

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let it = 2; found.length < count; it++) if (found.every((prime) => it % prime)) found.push(it);
  return found;
}

/** The first 32 bits behind the point. */
function fraction(root: number): number {
  return Math.floor((root % 1) * 0x100000000);
}

function joined(pieces: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (it) => it.toString(16).padStart(2, "0")).join("");
}
