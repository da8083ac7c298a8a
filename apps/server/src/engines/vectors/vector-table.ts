import { type Dots, openDots, type WasmMemory, wasmPageBytes } from "./dot-kernel.ts";

/** Rows whose scores are computed in one call. */
const blockRows = 4096;
/** The first bytes of the memory hold the scores of a block, then the query, then the rows. */
const scoreBytes = blockRows * 4;
const simdWidth = 16;
const most = 127;
const idBytes = 8;
const scaleBytes = 4;

export interface Candidate {
  id: number;
  score: number;
}

const widthOf = (dimensions: number): number => Math.ceil(dimensions / simdWidth) * simdWidth;

/** A byte for each value, in whole pages, and the scale and id of each vector. */
export function bytesOfTable(dimensions: number, size: number): number {
  const width = widthOf(dimensions);
  const pages = Math.ceil((scoreBytes + width + size * width) / wasmPageBytes);
  return pages * wasmPageBytes + size * (scaleBytes + idBytes);
}

/**
 * Vectors rounded to int8, each with its own scale: a quarter of the memory of float32. Good for finding candidates;
 * their exact scores need the original vectors.
 */
export class VectorTable {
  readonly dimensions: number;
  readonly #width: number;
  readonly #rowsAt: number;
  readonly #memory: WasmMemory;
  readonly #dots: Dots;
  #ids = new Float64Array(0);
  #scales = new Float32Array(0);
  #size = 0;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.#width = widthOf(dimensions);
    this.#rowsAt = scoreBytes + this.#width;
    ({ memory: this.#memory, dots: this.#dots } = openDots());
    this.#reserve(0);
  }

  get size(): number {
    return this.#size;
  }

  /** The memory never shrinks. Whether it is much more than so many vectors need. */
  isTooLargeFor(size: number): boolean {
    return this.#memory.buffer.byteLength > 1.5 * (this.#rowsAt + size * this.#width) + 4 * wasmPageBytes;
  }

  /** Drops the vectors whose ids are not listed. Returns the listed ids that are missing. */
  keepOnly(ids: Float64Array): Float64Array {
    const missing = new Set<number>(ids);
    const rows = new Int8Array(this.#memory.buffer, this.#rowsAt);
    for (let row = 0; row < this.#size; ) {
      if (missing.delete(this.#ids[row] as number)) row++;
      else this.#moveLastTo(row, rows);
    }
    return Float64Array.from(missing);
  }

  #moveLastTo(row: number, rows: Int8Array): void {
    const last = --this.#size;
    rows.copyWithin(row * this.#width, last * this.#width, (last + 1) * this.#width);
    this.#ids[row] = this.#ids[last] as number;
    this.#scales[row] = this.#scales[last] as number;
  }

  /** Entries as `VectorSet.vectors` returns them, all of the same length. */
  add(entries: Buffer): void {
    const { dimensions } = this;
    const entryBytes = idBytes + dimensions * 4;
    const added = Math.floor(entries.length / entryBytes);
    this.#reserve(this.#size + added);
    const rows = new Int8Array(this.#memory.buffer, this.#rowsAt);
    for (let n = 0; n < added; n++) {
      const at = n * entryBytes;
      const values = vectorAt(entries, at + idBytes, dimensions);
      this.#ids[this.#size] = Number(entries.readBigInt64BE(at));
      this.#scales[this.#size] = quantize(values, rows, this.#size * this.#width);
      this.#size++;
    }
  }

  #reserve(size: number): void {
    const needed = this.#rowsAt + size * this.#width;
    const lacking = Math.ceil((needed - this.#memory.buffer.byteLength) / wasmPageBytes);
    if (lacking > 0) this.#memory.grow(lacking);
    if (size <= this.#ids.length) return;
    const capacity = Math.max(size, Math.ceil(this.#ids.length * 1.25));
    const [ids, scales] = [new Float64Array(capacity), new Float32Array(capacity)];
    ids.set(this.#ids);
    scales.set(this.#scales);
    [this.#ids, this.#scales] = [ids, scales];
  }

  /** The vectors nearest to the query, about: scores are off by the rounding. In no order. */
  candidates(query: Float32Array, count: number): Candidate[] {
    const { buffer } = this.#memory;
    const queryScale = quantize(query, new Int8Array(buffer, scoreBytes, this.#width), 0);
    const dots = new Int32Array(buffer, 0, blockRows);
    const best = new Best(count);
    for (let from = 0; from < this.#size; from += blockRows) {
      const rows = Math.min(blockRows, this.#size - from);
      this.#dots(this.#rowsAt + from * this.#width, rows, this.#width, scoreBytes, 0);
      for (let n = 0; n < rows; n++) {
        const score = (dots[n] as number) * (this.#scales[from + n] as number) * queryScale;
        if (score > best.least) best.add(from + n, score);
      }
    }
    return best.entries().map(({ row, score }) => ({ id: this.#ids[row] as number, score }));
  }
}

/** Returns the factor that turns the rounded values back. */
function quantize(values: Float32Array, into: Int8Array, at: number): number {
  let largest = 0;
  for (let n = 0; n < values.length; n++) largest = Math.max(largest, Math.abs(values[n] as number));
  const factor = largest > 0 && Number.isFinite(largest) ? most / largest : 0;
  for (let n = 0; n < values.length; n++) into[at + n] = Math.round((values[n] as number) * factor);
  return factor === 0 ? 0 : 1 / factor;
}

/** A view on the bytes, which `Buffer.from` aligns. */
function vectorAt(bytes: Buffer, at: number, dimensions: number): Float32Array {
  return new Float32Array(bytes.buffer, bytes.byteOffset + at, dimensions);
}

/** The exact scores of entries, best first. */
export function scoreExactly(entries: Buffer, query: Float32Array): Candidate[] {
  const entryBytes = idBytes + query.length * 4;
  return Array.from({ length: Math.floor(entries.length / entryBytes) }, (_, n) => {
    const values = vectorAt(entries, n * entryBytes + idBytes, query.length);
    const score = values.reduce((sum, value, at) => sum + value * (query[at] as number), 0);
    return { id: Number(entries.readBigInt64BE(n * entryBytes)), score };
  }).sort((one, other) => other.score - one.score || one.id - other.id);
}

/** The rows with the highest scores: a heap with the lowest of them on top. */
class Best {
  readonly #count: number;
  readonly #heap: { row: number; score: number }[] = [];
  least = Number.NEGATIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
  }

  entries(): readonly { row: number; score: number }[] {
    return this.#heap;
  }

  add(row: number, score: number): void {
    const heap = this.#heap;
    if (heap.length < this.#count) {
      heap.push({ row, score });
      if (heap.length < this.#count) return;
      heap.sort((one, other) => one.score - other.score);
    } else {
      heap[0] = { row, score };
      this.#sink();
    }
    this.least = (heap[0] as { score: number }).score;
  }

  #sink(): void {
    const heap = this.#heap;
    const scoreAt = (at: number): number => heap[at]?.score ?? Number.POSITIVE_INFINITY;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const lower = scoreAt(left + 1) < scoreAt(left) ? left + 1 : left;
      const [here, below] = [heap[at], heap[lower]];
      if (!here || !below || below.score >= here.score) return;
      heap[at] = below;
      heap[lower] = here;
      at = lower;
    }
  }
}
