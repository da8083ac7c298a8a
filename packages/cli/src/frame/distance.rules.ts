/** The known word that is most likely meant, if any is close. */
export function closest(typed: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(typed.length / 3));
  const near = known
    .map((word) => ({ word, edits: word.startsWith(typed) ? 0 : editsBetween(typed, word) }))
    .filter(({ edits }) => edits <= most)
    .sort((one, other) => one.edits - other.edits);
  return near[0]?.word;
}

/** Insertions, deletions, replacements, and swaps of two neighbours. */
function editsBetween(from: string, to: string): number {
  let older: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      let edits = Math.min((last[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        edits = Math.min(edits, (older[j - 2] ?? 0) + 1);
      }
      next.push(edits);
    }
    [older, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
