export interface Taking {
  /** Takes what there is, up to the free hands. Resolves when nothing more can be taken for the moment. */
  look(): Promise<void>;
  /** Nothing more is taken. Resolves when what was just being claimed has begun. */
  stop(): Promise<void>;
  readonly isStopped: boolean;
}

/**
 * How a worker takes work: as long as there is some and a hand is free. One look is under way at a time; who asks for
 * one meanwhile causes another, so that work which came too late for the first is seen.
 */
export function createTaking<Work>(options: {
  freeHands(): number;
  /** Claimed at most with one statement. */
  atOnce: number;
  claim(hands: number): Promise<readonly Work[]>;
  begin(work: Work): void;
}): Taking {
  let isStopped = false;
  let looking: Promise<void> | undefined;
  let lookAgain = false;

  async function take(): Promise<void> {
    do {
      lookAgain = false;
      for (let hands = options.freeHands(); hands > 0 && !isStopped; hands = options.freeHands()) {
        const taken = await options.claim(Math.min(hands, options.atOnce));
        if (taken.length === 0) break;
        for (const work of taken) options.begin(work);
      }
    } while (lookAgain && !isStopped);
  }

  return {
    look() {
      lookAgain = true;
      looking ??= take().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    async stop() {
      isStopped = true;
      await looking?.catch(() => {});
    },
    get isStopped() {
      return isStopped;
    },
  };
}
