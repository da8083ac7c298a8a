/** Vectors of length 1 that can be compared with each other, such as those of one drive and one embedding model. */
export interface VectorSet {
  /** Sets with the same key and version have the same vectors. */
  readonly key: string;
  readonly version: number;
  readonly dimensions: number;
  /** About how many vectors the set has. */
  readonly size: number;
  /** The ids after this one in ascending order: int8 as hexadecimal digits, one page. Empty after the last. */
  ids(after: number): Promise<string>;
  /** Each id (int8, big endian) with its vector (float32, little endian) as hexadecimal digits. Deleted ones are left out. */
  vectors(ids: readonly number[]): Promise<string>;
}

export interface Neighbor {
  id: number;
  /** The cosine. */
  score: number;
}

/**
 * `too large`: the set does not fit the memory of this node. `loading`: the set is still being read into memory; a later
 * search finds it.
 */
export type NearestAnswer = Neighbor[] | "too large" | "loading";

/**
 * Exact nearest neighbors. Every driver guarantees:
 * - the event loop is not blocked;
 * - memory is bounded over all sets; the set that was not used for the longest time is dropped first;
 * - users share the processor fairly; a user with too many waiting searches gets `service_unavailable`.
 */
export interface Vectors {
  /** False: `nearest` answers `too large`. */
  fits(set: Pick<VectorSet, "dimensions" | "size">): boolean;
  /** Best first. */
  nearest(
    set: VectorSet,
    query: Float32Array,
    options: { userId: string; limit: number; signal?: AbortSignal | undefined },
  ): Promise<NearestAnswer>;
  close(): Promise<void>;
}
