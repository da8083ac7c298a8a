export interface Ranked {
  id: number;
  score: number;
}

/**
 * A rank counts 1 / (10 + rank): only ranks are compared, because the scores of different searches are on different
 * scales. With the usual 60, two middling ranks would outweigh a first one, such as that of an exact number.
 */
const rankOffset = 10;

/** Merges lists that are ordered by score, best first. */
export function fuse(lists: readonly (readonly Ranked[])[]): Ranked[] {
  const scores = new Map<number, number>();
  for (const list of lists) {
    for (const [rank, { id }] of list.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + 1 / (rankOffset + rank + 1));
    }
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
}

/** Matches of words below this share of the best score are noise: they share only frequent words with the question. */
const leastShare = 0.4;

export function withoutNoise(list: readonly Ranked[]): Ranked[] {
  const least = (list[0]?.score ?? 0) * leastShare;
  return list.filter(({ score }) => score >= least);
}

interface Placed {
  path: string;
  text: string;
}

const mostOfFile = 3;

/**
 * Takes the best chunks of different files: at most three of one file, and no text twice. Others are taken only if there
 * are too few. The order stays.
 */
export function spread<Chunk extends Placed>(chunks: readonly Chunk[], limit: number): Chunk[] {
  const ofFile = new Map<string, number>();
  const texts = new Set<string>();
  const [first, rest]: [Chunk[], Chunk[]] = [[], []];
  for (const chunk of chunks) {
    const before = ofFile.get(chunk.path) ?? 0;
    if (before >= mostOfFile || texts.has(chunk.text)) {
      rest.push(chunk);
      continue;
    }
    ofFile.set(chunk.path, before + 1);
    texts.add(chunk.text);
    first.push(chunk);
  }
  const taken = new Set([...first, ...rest].slice(0, limit));
  return chunks.filter((chunk) => taken.has(chunk));
}
