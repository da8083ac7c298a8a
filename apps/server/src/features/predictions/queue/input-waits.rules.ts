/** Many that meet a file store that is away must not go round in a hurry. */
const firstPauseMs = 2_000;
/** The slot of the model is held meanwhile, and a store that is back is to be noticed soon. */
const longestPauseMs = 60_000;

/** One whose download breaks off so often, from a store that answers, will hardly ever be read whole. */
const breaksAllowed = 5;

/**
 * Until a prediction whose input could not be read goes back into the line. Each time it went there and was claimed again
 * its claim number has grown by two, on whichever node.
 */
export function pauseBeforeNextTry(claim: number): number {
  const earlierTries = Math.floor((claim - 1) / 2);
  return Math.min(firstPauseMs * 2 ** earlierTries, longestPauseMs);
}

export function isBrokenForGood(breaks: number): boolean {
  return breaks >= breaksAllowed;
}
