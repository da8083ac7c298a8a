/** Unicode classes, and groups other than `(?:…)`: look-around, names, flags. */
const beyondPlain = /\\[pPkuc]|\(\?(?!:)/;

/**
 * Whether every language reads a regular expression alike. Generated clients fail to start if they cannot compile a
 * pattern (Python does not know `\P{…}`).
 */
export function isPortable(pattern: string): boolean {
  return !beyondPlain.test(pattern);
}
