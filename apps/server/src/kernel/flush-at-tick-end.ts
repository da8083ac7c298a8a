let depth = 0;
let ends: (() => void)[] = [];

/**
 * Calls back once what is being dealt with right now is dealt with, so that what belongs together is sent together:
 * at the end of the surrounding `inOneTick`, or else at the end of this turn of the event loop.
 */
export function flushAtTickEnd(end: () => void): void {
  if (depth > 0) ends.push(end);
  else process.nextTick(end);
}

/** For a source of many small pieces: cheaper than a tick for each of them. */
export function inOneTick(deal: () => void): void {
  depth += 1;
  try {
    deal();
  } finally {
    depth -= 1;
    if (depth === 0 && ends.length > 0) callAll();
  }
}

function callAll(): void {
  const due = ends;
  ends = [];
  for (const end of due) end();
}
