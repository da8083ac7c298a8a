/** Classes by Unicode property, and groups that do more than group: look-around, names, flags. */
const beyondPlain = /\\[pPkuc]|\(\?(?!:)/;

/**
 * Whether every language reads a regular expression, and alike. Clients are generated from a document in all of them,
 * and one that cannot compile a pattern (Python knows no `\P{…}`) does not start.
 */
export function isPortable(pattern: string): boolean {
  return !beyondPlain.test(pattern);
}
