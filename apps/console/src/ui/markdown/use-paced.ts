import { useEffect, useRef, useState } from "react";

/** A fifth of the time at most is spent on rendering, where that is possible. */
const share = 4;
const leastPauseMs = 60;
/** On a busy machine the text must still move. */
const mostPauseMs = 1_000;

/** The text, at most as often as it can be rendered while it grows. */
export function usePaced(text: string, isGrowing: boolean): string {
  const [shown, setShown] = useState(text);
  const timing = useRef({ begun: 0, pauseMs: leastPauseMs, ended: 0 });
  const latest = useRef(text);
  latest.current = text;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Runs after each commit of a shown text, so the difference is what its rendering took.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  useEffect(() => {
    const { begun } = timing.current;
    if (begun === 0) return;
    const ended = performance.now();
    timing.current = {
      begun: 0,
      ended,
      pauseMs: Math.min(mostPauseMs, Math.max(leastPauseMs, share * (ended - begun))),
    };
  }, [shown]);
  useEffect(() => {
    if (!isGrowing || text === shown || timer.current !== undefined) return;
    const { ended, pauseMs } = timing.current;
    timer.current = setTimeout(
      () => {
        timer.current = undefined;
        timing.current.begun = performance.now();
        setShown(latest.current);
      },
      Math.max(0, ended + pauseMs - performance.now()),
    );
  }, [text, shown, isGrowing]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return isGrowing ? shown : text;
}
