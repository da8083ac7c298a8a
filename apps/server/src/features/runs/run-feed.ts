import type { Database } from "../../engines/database/database.ts";
import { isUnavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { Register } from "../../kernel/register.ts";
import { singleFlight } from "../../kernel/single-flight.ts";
import { isAsking, type Run, type RunEvent } from "./run.ts";
import { endedChannel, eventsChannel, findRun, listEvents, markFollowed } from "./store.ts";

export interface RunFeed {
  /**
   * Yields the events after a number, then live ones, until the run ends or the signal aborts. During shutdown the feed
   * ends after the stored events; the reader reconnects for the rest.
   */
  follow(
    run: Pick<Run, "id" | "lastEvent">,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly FollowedEvent[]>;
  /** Calls back after new events of the run, if it is followed. Returns a function that ends it. */
  watch(runId: string, onEvents: () => void): () => void;
  /**
   * Resolves with the run when it ends, at the latest after the time or when the signal aborts: with undefined if it does
   * not exist, or if the database is unavailable then.
   */
  untilEnded(runId: string, milliseconds: number, options?: EndWait): Promise<Run | undefined>;
  /** Shutdown: readers stop waiting. `all`: so do clients whose answer depends on the wait. */
  release(options?: { all: boolean }): void;
  close(): Promise<void>;
}

interface EndWait {
  signal?: AbortSignal | undefined;
  /** The run was live a moment ago, so it is read only after a notification. */
  seenLive?: boolean;
  /** Only a response depends on the wait, so it ends at shutdown. */
  isReader?: boolean;
  /** Resolves also when the run needs a confirmation. */
  orAsking?: boolean;
  /** At shutdown, the wait lasts as long as a node works on the run, and until all are released. */
  whileHeld?: boolean;
}

/** An event in its wire format, encoded once for all readers. */
export interface FollowedEvent {
  n: number;
  frame: string;
  isLast: boolean;
}

const pageSize = 500;
/** A lost notification delays events by this time. */
const pollMs = 5_000;
/** The same at shutdown. */
const lastPollMs = 250;
/** Recently ended runs that a request may be about to wait for. */
const keptEnds = 1_000;

export const lastEventTypes: readonly string[] = ["completed", "error"];

/** Shared by all readers of one run on this node, so that each event is read once. */
interface Tail {
  /** Events since the tail was opened, without gaps. */
  events: FollowedEvent[];
  readonly from: number;
  waiting: Set<() => void>;
  readers: number;
  readonly read: () => Promise<void>;
}

export async function startRunFeed(database: Database, log: Log): Promise<RunFeed> {
  const tails = new Register<Tail>();
  let isReleased = false;
  let areAllReleased = false;
  let isClosed = false;
  const endWaits = new Register<Set<() => void>>();
  const watchers = new Register<Set<() => void>>();

  const onEvents = (runId: string) => {
    for (const onChange of watchers.get(runId) ?? []) onChange();
    const tail = tails.get(runId);
    if (tail) void tail.read().catch(() => wakeAll(tail));
  };
  const recentEnds = new Set<string>();
  const onEnd = (runId: string) => {
    rememberEnd(runId);
    look(runId);
  };
  const look = (runId: string) => {
    onEvents(runId);
    for (const wake of endWaits.get(runId) ?? []) wake();
  };
  const onReconnect = () => {
    for (const runId of new Set([...tails.ids(), ...endWaits.ids()])) look(runId);
  };
  // Two channels: a wait for the end or a confirmation need not read the run after each event.
  const listeners = [
    await database.listen(eventsChannel, onEvents),
    await database.listen(endedChannel, onEnd, onReconnect),
  ];

  function wakeAll(tail: Tail): void {
    for (const wake of tail.waiting) wake();
  }

  function wakeAllReaders(): void {
    for (const tail of tails.all()) wakeAll(tail);
    for (const waits of endWaits.all()) for (const wake of waits) wake();
  }

  async function readNew(runId: string, tail: Tail): Promise<void> {
    for (let isFull = true; isFull; ) {
      const last = tail.events.at(-1)?.n ?? tail.from;
      const events = await listEvents(database.sql, runId, last, pageSize);
      isFull = events.length === pageSize;
      if (events.length === 0) return;
      tail.events.push(...events.map(toFrame));
      wakeAll(tail);
    }
  }

  async function* follow(
    { id: runId, lastEvent }: Pick<Run, "id" | "lastEvent">,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly FollowedEvent[]> {
    let last = after;
    // The tail is opened before older events are read, so no event is missed. A reader may claim to know events that do
    // not exist yet; other readers must still get them.
    const shared = tails.get(runId);
    const tail = shared ?? openTail(runId, Math.min(after, lastEvent));
    tail.readers++;
    try {
      if (!shared) await markFollowed(database.sql, runId);
      while (last < tail.from) {
        const events = (await listEvents(database.sql, runId, last, pageSize)).map(toFrame);
        if (events.length === 0) break;
        yield events;
        last = events.at(-1)?.n ?? last;
        if (events.at(-1)?.isLast) return;
      }
      await tail.read();
      while (!signal.aborted && !isClosed) {
        const fresh = tail.events.filter((event) => event.n > last);
        if (fresh.length > 0) {
          yield fresh;
          last = fresh.at(-1)?.n ?? last;
          if (fresh.at(-1)?.isLast) return;
          continue;
        }
        if (tail.events.at(-1)?.isLast) return;
        if (!isReleased) await nextChange(tail, signal);
        const isFinalRead = isReleased;
        if (!hasMore(tail, last)) await tail.read();
        if (isFinalRead && !hasMore(tail, last)) return;
      }
    } catch (error) {
      // Readers reconnect after an outage. Other errors are bugs, which an open stream cannot report.
      if (!isUnavailable(error)) log.error({ run_id: runId, err: error }, "could not follow the events of a run");
      throw error;
    } finally {
      if (--tail.readers === 0 && tails.get(runId) === tail) tails.delete(runId);
    }
  }

  function openTail(runId: string, after: number): Tail {
    const read = singleFlight(() => readNew(runId, tail));
    const tail: Tail = { events: [], from: after, waiting: new Set(), readers: 0, read };
    tails.set(runId, tail);
    return tail;
  }

  function nextChange(tail: Tail, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        tail.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, pollMs);
      signal.addEventListener("abort", done, { once: true });
      tail.waiting.add(done);
    });
  }

  async function untilEnded(
    runId: string,
    milliseconds: number,
    { signal, seenLive = false, isReader = false, orAsking = false, whileHeld = false }: EndWait = {},
  ): Promise<Run | undefined> {
    const until = performance.now() + milliseconds;
    const isStopped = () => signal?.aborted || isClosed || (isReader && isReleased) || (whileHeld && areAllReleased);
    const pause = () => (whileHeld && isReleased ? lastPollMs : pollMs);
    let wake = () => {};
    const wakeUp = () => wake();
    const leave = join(endWaits, runId, wakeUp);
    signal?.addEventListener("abort", wakeUp, { once: true });
    try {
      // The run may have ended between the caller's read and this wait.
      let mayHaveEnded = !seenLive || recentEnds.has(runId);
      for (;;) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (mayHaveEnded || isStopped()) {
          const run = await findRun(database.sql, runId).catch((error: unknown) => {
            if (!isUnavailable(error)) throw error;
            return "unknown" as const;
          });
          const isOver = performance.now() >= until || isStopped();
          if (run === "unknown") {
            // The run goes on without the database, so the wait does too.
            if (isOver) return undefined;
          } else {
            const isLeft = whileHeld && isReleased && run?.holder === null;
            const isDone = !run || run.completedAt !== null || (orAsking && isAsking(run)) || isLeft;
            if (isDone || isOver) return run;
          }
        }
        const timer = setTimeout(wakeUp, Math.min(Math.max(0, until - performance.now()), pause()));
        await woken;
        clearTimeout(timer);
        mayHaveEnded = true;
      }
    } finally {
      signal?.removeEventListener("abort", wakeUp);
      leave();
    }
  }

  function rememberEnd(runId: string): void {
    recentEnds.add(runId);
    for (const oldest of recentEnds) {
      if (recentEnds.size <= keptEnds) break;
      recentEnds.delete(oldest);
    }
  }

  return {
    follow,
    watch: (runId, onChange) => join(watchers, runId, onChange),
    untilEnded,
    release({ all } = { all: false }) {
      isReleased = true;
      areAllReleased = all;
      wakeAllReaders();
    },
    async close() {
      isClosed = true;
      wakeAllReaders();
      for (const listener of listeners) await listener.stop();
    },
  };
}

/** Adds a callback for a run. Returns a function that removes it. */
function join(callbacks: Register<Set<() => void>>, runId: string, callback: () => void): () => void {
  const joined = callbacks.get(runId) ?? new Set();
  callbacks.set(runId, joined.add(callback));
  return () => {
    joined.delete(callback);
    if (joined.size === 0 && callbacks.get(runId) === joined) callbacks.delete(runId);
  };
}

function hasMore({ events }: Tail, last: number): boolean {
  return (events.at(-1)?.n ?? 0) > last;
}

function toFrame({ n, type, data }: RunEvent): FollowedEvent {
  const frame = `id: ${n}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  return { n, frame, isLast: lastEventTypes.includes(type) };
}
