/** For small files, whose parts the parser may read several times. */
const spareBytes = 16 * 1024 * 1024;
/** Of one read, which the parser keeps a copy of. The index of ten hours of video takes less. */
const longestRead = 64 * 1024 * 1024;

/**
 * What a parser may read of a file. A hostile file makes it jump back and forth, or load a part that claims to be
 * hundreds of megabytes.
 */
export function createReadBudget(size: number): { take(bytes: number): void } {
  let left = 2 * size + spareBytes;
  return {
    take(bytes) {
      left -= bytes;
      if (left < 0) throw new Error("the file was read more than twice");
      if (bytes > longestRead) throw new Error("a part of the file is too large");
    },
  };
}
