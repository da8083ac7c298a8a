import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Decision, Ending, GrantedSlot } from "./store.ts";
import { type ClientArrival, tallyArrivals } from "./tally-arrivals.rules.ts";
import { type Written, writePredictions } from "./write-store.ts";

/** What a node's own predictions come to in the database. The caller is answered after the commit. */
export interface PredictionWriter<Arrival> {
  /** Decides about one whose client is connected here. */
  admit(arrival: Arrival): Promise<Decision>;
  /** Ends one that was not queued. False when it had ended before, or is no longer this claim's to end. */
  end(ending: Ending): Promise<boolean>;
}

export interface WriterDeps<Arrival> {
  database: Database;
  clock: Clock;
  telemetry: Telemetry;
  nodeId: string;
  /** For arrivals that cannot all run at once. */
  decideOneByOne(arrival: Arrival): Promise<Decision>;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** A slot is free that a queued prediction may take. */
  wakeWorkers(): void;
}

/** What the model is to blame for, not the user. */
const ofModel = new Set<Decision["verdict"]>(["wait", "model_retired", "model_inactive"]);
const mostTight = 10_000;

type Item<Arrival> = { arrival: Arrival; ending?: never } | { ending: Ending; arrival?: never };

/**
 * Group commit: what arrives and what ends while one batch is under way goes into the next, in one statement.
 *
 *   batch ──► ends written, and all arrivals admitted to run
 *     └─────► ends written, and no arrival: not all may run ──► decided one by one
 *
 * Where a user is refused or a model has a line, the next are likely to fare no better: theirs are decided one by one
 * from the start, until one of them runs at once again, so that they do not spoil the batches of the others.
 */
export function createPredictionWriter<Arrival extends ClientArrival>(
  deps: WriterDeps<Arrival>,
): PredictionWriter<Arrival> {
  const { database, telemetry, nodeId } = deps;
  /** Users and models. */
  const tight = new Set<string>();

  async function decideOneByOne(arrival: Arrival): Promise<Decision> {
    const { userId, modelId } = arrival;
    const decision = await deps.decideOneByOne(arrival);
    if (decision.verdict === "run") {
      tight.delete(userId);
      tight.delete(modelId);
    } else {
      if (tight.size >= mostTight) tight.clear();
      tight.add(ofModel.has(decision.verdict) ? modelId : userId);
    }
    return decision;
  }

  async function write(items: readonly Item<Arrival>[]): Promise<(Decision | boolean | Promise<Decision>)[]> {
    const startedAt = performance.now();
    const endings: Ending[] = [];
    const arrivals: Arrival[] = [];
    for (const { ending, arrival } of items) {
      if (ending) endings.push(ending);
      else arrivals.push(arrival);
    }
    const tally = tallyArrivals(arrivals);
    const month = `${deps.clock.now().toISOString().slice(0, 7)}-01`;
    const written = await writePredictions(database.sql, endings, arrivals, tally, { nodeId, month });
    const milliseconds = performance.now() - startedAt;
    if (written.admitted) telemetry.batchWritten("admission", arrivals.length, milliseconds);
    if (endings.length > 0) telemetry.batchWritten("settlement", endings.length, milliseconds);
    // It is committed: a notice that gets lost must not look like a failure. The sweep of its node picks the grant up.
    if (written.grants) deps.announceGrants(written.grants).catch(() => {});
    if (written.wake) deps.wakeWorkers();
    const decisions = written.admitted ? decisionsOf(arrivals, written) : arrivals.map(decideOneByOne);
    const ended = written.endedN && new Set(written.endedN);
    let [arrivalAt, endingAt] = [0, 0];
    return items.map(({ ending }) =>
      ending ? (ended?.has(endingAt++) ?? true) : (decisions[arrivalAt++] as Decision | Promise<Decision>),
    );
  }

  const batcher = createBatcher<Item<Arrival>, Decision | boolean>({
    run: write,
    maxItems: 1024,
    // A lost database concerns everybody; anything else may be the fault of one row.
    blameItem: (error) => !(error instanceof Fault),
  });

  return {
    admit: (arrival) =>
      tight.has(arrival.userId) || tight.has(arrival.modelId)
        ? decideOneByOne(arrival)
        : (batcher.add({ arrival }) as Promise<Decision>),
    end: (ending) => batcher.add({ ending }) as Promise<boolean>,
  };
}

/** All run; each sees what the plan's minute still allows after it. */
function decisionsOf(
  arrivals: readonly ClientArrival[],
  { rateUsers, rateLimits, rateRequests, rateResetMs }: Written,
): Decision[] {
  const limited = new Map(
    rateUsers?.map((userId, n) => {
      const rateLimit = rateLimits?.[n] ?? 0;
      return [userId, { rateLimit, left: rateLimit - (rateRequests?.[n] ?? 0), rateResetMs: rateResetMs?.[n] ?? 0 }];
    }),
  );
  return arrivals.map(({ userId }) => {
    const user = limited.get(userId);
    if (!user) return withoutLimit;
    const { rateLimit, rateResetMs } = user;
    return { verdict: "run", rateLimit, rateRemaining: Math.max(0, --user.left), rateResetMs, retryAfterMs: null };
  });
}

const withoutLimit: Decision = {
  verdict: "run",
  rateLimit: null,
  rateRemaining: null,
  rateResetMs: null,
  retryAfterMs: null,
};
