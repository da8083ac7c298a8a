import { tooManyMessages } from "./message-count.ts";

/** How fast messages of one stream are read. */
export interface MessagePace {
  /** So many are read however fast they come. */
  atOnce: number;
  aSecond: number;
  /** How long a stream may be held back, beyond half of the time. */
  heldBackMs: number;
}

/**
 * How long to wait, in milliseconds, after so many messages. A server that is a little too fast is slowed down, for it
 * cannot send what is not read; one that stays more than twice as fast, or sends far too many at once, throws.
 */
export function paceMessages({ atOnce, aSecond, heldBackMs }: MessagePace, clock = () => performance.now()) {
  let unpaid = 0;
  let held = 0;
  let since = clock();
  return (messages: number): number => {
    const passed = clock() - since;
    since += passed;
    unpaid = Math.max(0, unpaid - (passed / 1000) * aSecond) + messages;
    const pause = (Math.max(0, unpaid - atOnce) / aSecond) * 1000;
    held = Math.max(0, held - passed / 2) + pause;
    if (held > heldBackMs) throw tooManyMessages();
    return pause;
  };
}
