import { singleFlight } from "./single-flight.ts";

export interface ClaimLoop {
  /** Claims work until none is left or no slot is free. */
  look(): Promise<void>;
  /** Claims nothing more. Resolves when the last claim has begun. */
  stop(): Promise<void>;
  readonly isStopped: boolean;
}

/** Claims work as long as there is some and a slot is free. */
export function createClaimLoop<Work>(options: {
  freeSlots(): number;
  /** The most that one statement claims. */
  atOnce: number;
  claim(slots: number): Promise<readonly Work[]>;
  begin(work: Work): void;
}): ClaimLoop {
  let isStopped = false;
  let current: Promise<void> | undefined;

  const claimAll = singleFlight(async () => {
    for (let slots = options.freeSlots(); slots > 0 && !isStopped; slots = options.freeSlots()) {
      const claimed = await options.claim(Math.min(slots, options.atOnce));
      if (claimed.length === 0) break;
      for (const work of claimed) options.begin(work);
    }
  });

  return {
    look() {
      current = claimAll();
      return current;
    },
    async stop() {
      isStopped = true;
      await current?.catch(() => {});
    },
    get isStopped() {
      return isStopped;
    },
  };
}
