import { elapsed } from "./format.ts";
import { useTickingText } from "./ticker.ts";

/** How long something has been running, second by second. */
export function RunningClock({ since }: { since: string }) {
  const text = useTickingText(() => elapsed((Date.now() - Date.parse(since)) / 1000));
  return (
    <span role="timer" className="whitespace-nowrap tabular-nums">
      {text}
    </span>
  );
}
