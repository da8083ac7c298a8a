/** 64 MB: more than the largest document. */
const mostBytes = 67_108_864;

/**
 * The limits of a thread cover its objects, not its buffers. A few bytes of a PDF may unpack to gigabytes in one buffer,
 * so larger ones are refused. Only for a thread, because this changes the global constructor.
 */
export function boundBuffers(): void {
  const original = globalThis.Uint8Array;
  globalThis.Uint8Array = new Proxy(original, {
    construct(target, args, newTarget) {
      if (typeof args[0] === "number" && args[0] > mostBytes) throw new RangeError("The buffer would be too large");
      return Reflect.construct(target, args, newTarget);
    },
  });
}
