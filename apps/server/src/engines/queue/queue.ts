/** A fixed set: each topic is a queue at the broker, and users must not be able to add queues. */
export const topics = ["predictions", "runs"] as const;
export type Topic = (typeof topics)[number];

/**
 * The queue port: carries wake-ups, never work. Work is in the database and is claimed there by SQL. A duplicate wake-up
 * costs one empty claim; a lost one costs a few seconds, because workers also look periodically.
 *
 * Admission calls `wake` after its commit, the sweep after it releases work. A worker calls `consume` at start, and its
 * `onWake` claims work until a claim finds none.
 *
 * Every driver guarantees:
 * - after a wake-up, some consumer's `onWake` is called. Wake-ups may be merged: thousands a second become a few messages;
 * - if a process dies during `onWake`, another consumer is called (RabbitMQ redelivers; PostgreSQL called all of them);
 * - consumers reconnect by themselves, call `onWake` once after every gap, and every few seconds while the engine is down.
 */
export interface Queue {
  /**
   * Announces `count` more jobs. Resolves with true once the engine has the wake-up, and with false after a few seconds
   * otherwise; it is then retried in the background. Never rejects, because admission must not fail over it.
   */
  wake(topic: Topic, count?: number): Promise<boolean>;
  /**
   * Calls `onWake` at the start, when there may be work, and at least every few seconds; at most `parallel` calls at once.
   * A call that rejects is repeated, on this node or another, after a pause.
   */
  consume(topic: Topic, options: { parallel: number }, onWake: OnWake): Promise<Consumer>;
  /** The engine answers within a second. */
  ready(): Promise<boolean>;
  /** Does not wait for running calls: their wake-ups go to others. Call `stop` first to let them finish. */
  close(): Promise<void>;
}

export type OnWake = (call: {
  /**
   * This worker has no free slot: another one is woken. It must look again by itself when a slot is free.
   */
  passOn(): void;
}) => Promise<void>;

export interface Consumer {
  /** Starts no further calls and resolves when the running ones have ended. Their remaining work is woken elsewhere. */
  stop(): Promise<void>;
}

/** Called once per problem, not per attempt. Without an error, the problem is over. */
export type OnTrouble = (text: string, error: unknown) => void;
