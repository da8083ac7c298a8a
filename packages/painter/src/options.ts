export const defaultPrompt =
  "Three nimble drones race through a course of glowing gates and tall pillars at sunset, leaving ribbons of light " +
  "behind them, with hazy mountains on the horizon.";

/** The pixels of each size, keyed by the value that callers send. */
export const sizes = {
  "2k": [2048, 2048],
  "1536x1536": [1536, 1536],
  "1280x720": [1280, 720],
  "720x1280": [720, 1280],
  "2048x2048": [2048, 2048],
  "2304x1728": [2304, 1728],
  "1728x2304": [1728, 2304],
  "2560x1440": [2560, 1440],
  "1440x2560": [1440, 2560],
  "2496x1664": [2496, 1664],
  "1664x2496": [1664, 2496],
  "3024x1296": [3024, 1296],
} as const satisfies Record<string, readonly [number, number]>;

export type Size = keyof typeof sizes;

export const isSize = (value: unknown): value is Size => typeof value === "string" && Object.hasOwn(sizes, value);
