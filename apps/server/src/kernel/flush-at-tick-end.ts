let depth = 0;
let ends: (() => void)[] = [];

/**
 * Calls back at the end of the surrounding `inOneTick`, or else of the current tick, so that small writes are sent
 * together.
 */
export function flushAtTickEnd(end: () => void): void {
  if (depth > 0) ends.push(end);
  else process.nextTick(end);
}

/** Groups many small pieces: cheaper than a tick for each. */
export function inOneTick(handle: () => void): void {
  depth += 1;
  try {
    handle();
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
