import { createMask, type Mask } from "../mask.ts";

/** The credential of a driver under test. */
export function keyed(key: string): { key: string; mask: Mask } {
  return { key, mask: createMask([key]) };
}
