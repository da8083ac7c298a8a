/**
 * Gives the memory of a buffer back at once, for an owner who is done with it; nobody may hold another view of it. What
 * a body brings is garbage as soon as it is written, and left to the collector it makes V8 go through the whole heap
 * after every 64 MB, which was three quarters of the work of an upload. A part of a larger buffer is left alone: its
 * other parts may be in use.
 */
export function freeBuffer(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
