/**
 * Frees the memory of a buffer at once. No other view of it may exist. Left to the garbage collector, the chunks of a
 * body trigger a full collection every 64 MB: three quarters of the CPU of an upload. A slice of a larger buffer is left
 * alone, because the rest may be in use.
 */
export function freeBuffer(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
