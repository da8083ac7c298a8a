import { useTickingText } from "../../../ui/ticker.ts";

const second = 1_000;

/** Milliseconds since `readAt`, second by second while `isTicking`. */
export function useAge(readAt: number, isTicking: boolean): number {
  const age = useTickingText(() => String(isTicking ? Math.floor(Math.max(0, Date.now() - readAt) / second) : 0));
  return Number(age) * second;
}
