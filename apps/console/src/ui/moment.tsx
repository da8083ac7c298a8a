import { ago, time } from "./format.ts";
import { useTickingText } from "./ticker.ts";

/** Relative time that keeps up with the clock; the tooltip shows the exact time. */
export function Moment({ at }: { at: string | null | undefined }) {
  return at ? <TickingMoment at={at} /> : <span className="text-muted">Never</span>;
}

function TickingMoment({ at }: { at: string }) {
  const text = useTickingText(() => ago(at));
  return (
    <time dateTime={at} title={time(at)} className="whitespace-nowrap">
      {text}
    </time>
  );
}
