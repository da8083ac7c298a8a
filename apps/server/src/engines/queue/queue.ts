/** What workers are woken for. A small fixed set: each is one queue at the broker, and users must not be able to add any. */
export const topics = ["predictions", "runs"] as const;
export type Topic = (typeof topics)[number];

/**
 * The queue port: it carries wake-ups, never work. What is to be done stands in the database, and who does it is decided
 * there, by a claim in SQL. So a doubled wake-up costs one claim that finds nothing, and a lost one costs a few seconds,
 * because workers look by themselves when nothing has woken them for so long.
 *
 * Accepting a prediction or a run calls `wake` once its row is committed; the sweeper calls it for what it gave back.
 * Every worker calls `consume` when it starts, and in `onWake` claims and does work until a claim finds nothing.
 *
 * What must hold for every driver:
 * - a wake-up is followed by a call of `onWake`, somewhere, that begins after it. Wake-ups may be merged as long as this
 *   holds: thousands a second become a few messages, and a worker whose hands are full remembers that it was woken;
 * - when a process dies in the middle of `onWake`, its wake-up is not lost: another consumer is called for it (RabbitMQ
 *   delivers it again; through PostgreSQL every consumer has been called for it in the first place);
 * - whatever happens to the engine, consumers come back by themselves and call `onWake` once after every gap; and while
 *   it is away, every few seconds.
 */
export interface Queue {
  /**
   * There are `count` more pieces of work. Resolves with true once the wake-up is safely with the engine and with false
   * when it could not be brought there in time, after a few seconds at most; it is then tried again in the background.
   * Never rejects: whoever accepts work need not wait for it, and must not fail because of it.
   */
  wake(topic: Topic, count?: number): Promise<boolean>;
  /**
   * Calls `onWake` once at the start, then whenever there may be work, and at least every few seconds; at most `parallel`
   * calls at a time. A call that rejects is repeated, here or elsewhere, after a short rest.
   */
  consume(topic: Topic, options: { parallel: number }, onWake: OnWake): Promise<Consumer>;
  /** True when the engine answers within a second. */
  ready(): Promise<boolean>;
  /** Ends everything at once; wake-ups of calls that still run go to others. To let them end, `stop` the consumers before. */
  close(): Promise<void>;
}

export type OnWake = (call: {
  /**
   * This worker's hands are full: another one is woken in its place. It must look by itself when it has a hand free.
   * Without this, a busy worker would swallow wake-ups that an idle one is waiting for.
   */
  passOn(): void;
}) => Promise<void>;

export interface Consumer {
  /** No further calls; resolves when the running ones have ended. What they leave is woken for elsewhere. */
  stop(): Promise<void>;
}

/**
 * Where a driver tells what the operator should know: once for each trouble, not once for each attempt. Without an error
 * it says that a trouble is over.
 */
export type OnTrouble = (text: string, error: unknown) => void;
