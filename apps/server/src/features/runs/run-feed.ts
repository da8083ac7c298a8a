import type { Database } from "../../engines/database/database.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { Register } from "../../kernel/register.ts";
import { isAsking, type Run, type RunEvent } from "./run.ts";
import { endedChannel, eventsChannel, findRun, listEvents, markFollowed } from "./store.ts";

export interface RunNews {
  /**
   * The events after a number, then the live ones, until the run has ended or the reader leaves. Once this node goes
   * down only what is stored by then: the reader comes back for the rest.
   */
  follow(
    run: Pick<Run, "id" | "lastEvent">,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly FollowedEvent[]>;
  /**
   * Resolves with the run when it has ended, at the latest after the time or when the reader leaves. `seenLive`: it was
   * read a moment ago and had not, so that it is looked at when there is news of it. `isReader`: nothing but an answer
   * depends on it, so that it waits no longer than this node is up. `orAsking`: nor longer than until the run asks.
   */
  untilEnded(runId: string, milliseconds: number, options?: EndWait): Promise<Run | undefined>;
  /** This node goes down: whoever reads is to wait no longer. */
  release(): void;
  close(): Promise<void>;
}

interface EndWait {
  signal?: AbortSignal | undefined;
  seenLive?: boolean;
  isReader?: boolean;
  orAsking?: boolean;
}

/** As it is sent; made once for all readers. */
export interface FollowedEvent {
  n: number;
  frame: string;
  isLast: boolean;
}

const pageSize = 500;
/** A lost notice costs this much, never an event. */
const lookAgainMs = 5_000;
/** Ends that somebody may be about to wait for. */
const keptEnds = 1_000;

/** The last event of a run. */
export const lastEventTypes: readonly string[] = ["completed", "error"];

/** What all readers of one run on this node share: one look at the log for all of them. */
interface Tail {
  /** Events that were read since the tail was opened, without a gap. */
  events: FollowedEvent[];
  readonly from: number;
  waiting: Set<() => void>;
  readers: number;
  reading: Promise<void> | undefined;
  readAgain: boolean;
}

export async function startRunNews(database: Database, log: Log): Promise<RunNews> {
  const tails = new Register<Tail>();
  let isReleased = false;
  let isClosed = false;
  const endWaits = new Register<Set<() => void>>();

  const onNews = (runId: string) => {
    const tail = tails.get(runId);
    if (tail) void readOn(runId, tail).catch(() => wakeAll(tail));
  };
  const endedLately = new Set<string>();
  const onEnd = (runId: string) => {
    rememberEnd(runId);
    look(runId);
  };
  const look = (runId: string) => {
    onNews(runId);
    for (const wake of endWaits.get(runId) ?? []) wake();
  };
  const onReconnect = () => {
    for (const runId of new Set([...tails.ids(), ...endWaits.ids()])) look(runId);
  };
  // Two channels: who waits for the end of a run, or for its question, need not look at it for each of its events.
  const listeners = [
    await database.listen(eventsChannel, onNews),
    await database.listen(endedChannel, onEnd, onReconnect),
  ];

  function wakeAll(tail: Tail): void {
    for (const wake of tail.waiting) wake();
  }

  function wakeEverybody(): void {
    for (const tail of tails.all()) wakeAll(tail);
    for (const waits of endWaits.all()) for (const wake of waits) wake();
  }

  /** Reads what is new for all readers; one look is under way at a time. */
  function readOn(runId: string, tail: Tail): Promise<void> {
    tail.readAgain = true;
    tail.reading ??= (async () => {
      while (tail.readAgain) {
        tail.readAgain = false;
        const last = tail.events.at(-1)?.n ?? tail.from;
        const events = await listEvents(database.sql, runId, last, pageSize);
        if (events.length === 0) continue;
        tail.events.push(...events.map(toFrame));
        if (events.length === pageSize) tail.readAgain = true;
        wakeAll(tail);
      }
    })().finally(() => {
      tail.reading = undefined;
    });
    return tail.reading;
  }

  async function* follow(
    { id: runId, lastEvent }: Pick<Run, "id" | "lastEvent">,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly FollowedEvent[]> {
    // First to hear of what comes, then to read what was: so nothing falls between.
    let last = after;
    // A reader may claim to know events that are not there yet; the others must not miss them for that.
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
      await readOn(runId, tail);
      while (!signal.aborted && !isClosed) {
        const fresh = tail.events.filter((event) => event.n > last);
        if (fresh.length > 0) {
          yield fresh;
          last = fresh.at(-1)?.n ?? last;
          if (fresh.at(-1)?.isLast) return;
          continue;
        }
        if (tail.events.at(-1)?.isLast) return;
        if (!isReleased) await nextNews(tail, signal);
        const isLastLook = isReleased;
        if (!hasMore(tail, last)) await readOn(runId, tail);
        if (isLastLook && !hasMore(tail, last)) return;
      }
    } catch (error) {
      // The database is away: the reader comes back. Anything else is a bug, and a stream can tell nobody of it.
      if (!(error instanceof Fault && error.type === "service_unavailable")) {
        log.error({ run_id: runId, err: error }, "The events of a run could not be followed");
      }
      throw error;
    } finally {
      if (--tail.readers === 0 && tails.get(runId) === tail) tails.delete(runId);
    }
  }

  function openTail(runId: string, after: number): Tail {
    const tail: Tail = {
      events: [],
      from: after,
      waiting: new Set(),
      readers: 0,
      reading: undefined,
      readAgain: false,
    };
    tails.set(runId, tail);
    return tail;
  }

  function nextNews(tail: Tail, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        tail.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, lookAgainMs);
      signal.addEventListener("abort", done, { once: true });
      tail.waiting.add(done);
    });
  }

  async function untilEnded(
    runId: string,
    milliseconds: number,
    { signal, seenLive = false, isReader = false, orAsking = false }: EndWait = {},
  ): Promise<Run | undefined> {
    const until = performance.now() + milliseconds;
    const isLetGo = () => signal?.aborted || isClosed || (isReader && isReleased);
    let wake = () => {};
    const wakeUp = () => wake();
    const waits = endWaits.get(runId) ?? new Set();
    endWaits.set(runId, waits.add(wakeUp));
    signal?.addEventListener("abort", wakeUp, { once: true });
    try {
      // Heard of its end between the look and this wait.
      let mayHaveEnded = !seenLive || endedLately.has(runId);
      for (;;) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (mayHaveEnded || isLetGo()) {
          const run = await findRun(database.sql, runId);
          const isOver = !run || run.completedAt !== null || (orAsking && isAsking(run));
          if (isOver || performance.now() >= until || isLetGo()) return run;
        }
        const timer = setTimeout(wakeUp, Math.min(Math.max(0, until - performance.now()), lookAgainMs));
        await woken;
        clearTimeout(timer);
        mayHaveEnded = true;
      }
    } finally {
      signal?.removeEventListener("abort", wakeUp);
      waits.delete(wakeUp);
      if (waits.size === 0 && endWaits.get(runId) === waits) endWaits.delete(runId);
    }
  }

  function rememberEnd(runId: string): void {
    endedLately.add(runId);
    for (const oldest of endedLately) {
      if (endedLately.size <= keptEnds) break;
      endedLately.delete(oldest);
    }
  }

  return {
    follow,
    untilEnded,
    release() {
      isReleased = true;
      wakeEverybody();
    },
    async close() {
      isClosed = true;
      wakeEverybody();
      for (const listener of listeners) await listener.stop();
    },
  };
}

function hasMore({ events }: Tail, last: number): boolean {
  return (events.at(-1)?.n ?? 0) > last;
}

function toFrame({ n, type, data }: RunEvent): FollowedEvent {
  const frame = `id: ${n}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  return { n, frame, isLast: lastEventTypes.includes(type) };
}
