import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Loan } from "./hands.ts";
import type { Decision, Ending, GrantedSlot } from "./store.ts";
import { type PlainArrival, tallyArrivals } from "./tally-arrivals.rules.ts";
import { type Written, writePredictions } from "./write-store.ts";

/** What a node's own predictions come to in the database. The caller is answered after the commit. */
export interface PredictionWriter<Arrival> {
  /** Decides about one that is to be run. */
  admit(arrival: Arrival): Promise<Decision>;
  /**
   * Ends one that has no webhook, and nothing beside its row that must go with it. False when it had ended before, or is
   * no longer this claim's to end. `freesHand`: it was queued, and a hand of this worker is free for another with its end.
   */
  end(ending: Ending, freesHand?: boolean): Promise<boolean>;
}

export interface WriterDeps<Arrival> {
  database: Database;
  clock: Clock;
  telemetry: Telemetry;
  nodeId: string;
  /** For arrivals of which one is refused, or is held here and cannot run at once. */
  decideOneByOne(arrival: Arrival): Promise<Decision>;
  announceGrants(grants: readonly GrantedSlot[]): Promise<void>;
  /** A slot is free that a queued prediction may take. */
  wakeWorkers(): void;
  /** The hands that become free with what ends, for what waits in the queue. */
  lendHands(freed: number): Loan;
}

/** What the model is to blame for, not the user. */
const ofModel = new Set<Decision["verdict"]>(["wait", "model_retired", "model_inactive"]);
const mostTight = 10_000;

type Item<Arrival> =
  | { arrival: Arrival; ending?: never; freesHand?: never }
  | { ending: Ending; freesHand: boolean; arrival?: never };

/**
 * Group commit: what arrives and what ends while one batch is under way goes into the next, in one statement.
 *
 *   batch ──► ends written, and all arrivals admitted: to run, or, where they are queued, to wait
 *     └─────► ends written, and no arrival: not all may ──► decided one by one
 *
 * Where a user is refused or a model has a line, the next are likely to fare no better: theirs are decided one by one
 * from the start, until one of them runs at once again, so that they do not spoil the batches of the others.
 */
export function createPredictionWriter<Arrival extends PlainArrival>(
  deps: WriterDeps<Arrival>,
): PredictionWriter<Arrival> {
  const { database, telemetry, nodeId } = deps;
  /** Users and models. */
  const tight = new Set<string>();

  async function decideOneByOne(arrival: Arrival): Promise<Decision> {
    const { userId, modelId, route } = arrival;
    const decision = await deps.decideOneByOne(arrival);
    if (decision.verdict === "run") {
      tight.delete(userId);
      tight.delete(modelId);
    } else if (decision.verdict === "wait" && route === "async") {
      tight.delete(userId);
    } else if (decision.verdict !== "run_lost") {
      if (tight.size >= mostTight) tight.clear();
      tight.add(ofModel.has(decision.verdict) ? modelId : userId);
    }
    return decision;
  }

  async function write(items: readonly Item<Arrival>[]): Promise<(Decision | boolean | Promise<Decision>)[]> {
    const startedAt = performance.now();
    const endings: Ending[] = [];
    const arrivals: Arrival[] = [];
    let freed = 0;
    for (const { ending, arrival, freesHand } of items) {
      if (ending) endings.push(ending);
      else arrivals.push(arrival);
      if (freesHand) freed++;
    }
    const tally = tallyArrivals(arrivals);
    const month = `${deps.clock.now().toISOString().slice(0, 7)}-01`;
    const loan = deps.lendHands(freed);
    let written: Written;
    try {
      written = await writePredictions(database.sql, endings, arrivals, tally, { nodeId, month, hands: loan.hands });
    } catch (error) {
      loan.use([]);
      throw error;
    }
    loan.use((written.jobs ?? []).map((job) => ({ ...job, acceptedAt: new Date(job.acceptedAt) })));
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
      tight.has(arrival.userId) || (arrival.route !== "async" && tight.has(arrival.modelId))
        ? decideOneByOne(arrival)
        : (batcher.add({ arrival }) as Promise<Decision>),
    end: (ending, freesHand = false) => batcher.add({ ending, freesHand }) as Promise<boolean>,
  };
}

/** All run, or wait for a worker; each sees what the plan's minute still allows after it. */
function decisionsOf(
  arrivals: readonly PlainArrival[],
  { hereStarts, rateUsers, rateLimits, rateRequests, rateResetMs }: Written,
): Decision[] {
  const limited = new Map(
    rateUsers?.map((userId, n) => {
      const rateLimit = rateLimits?.[n] ?? 0;
      return [userId, { rateLimit, left: rateLimit - (rateRequests?.[n] ?? 0), rateResetMs: rateResetMs?.[n] ?? 0 }];
    }),
  );
  return arrivals.map(({ userId, route, handFree }) => {
    const verdict = route !== "async" || (handFree && hereStarts) ? "run" : "wait";
    const user = limited.get(userId);
    if (!user) return verdict === "run" ? runsWithoutLimit : waitsWithoutLimit;
    const { rateLimit, rateResetMs } = user;
    if (route !== "agent") user.left--;
    return { verdict, rateLimit, rateRemaining: Math.max(0, user.left), rateResetMs, retryAfterMs: null };
  });
}

const withoutLimit = { rateLimit: null, rateRemaining: null, rateResetMs: null, retryAfterMs: null };
const runsWithoutLimit: Decision = { verdict: "run", ...withoutLimit };
const waitsWithoutLimit: Decision = { verdict: "wait", ...withoutLimit };
