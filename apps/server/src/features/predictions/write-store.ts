import type { Sql } from "../../engines/database/database.ts";
import type { ClaimedJob } from "./job-store.ts";
import type { Ending, GrantedSlot } from "./store.ts";
import type { PlainArrival, Tally } from "./tally-arrivals.rules.ts";

export interface Written {
  /** False: not all of the arrivals may run at once, and none was admitted. */
  admitted: boolean;
  /** Whether the queued ones with a free hand have started on this node. */
  hereStarts: boolean;
  /** As they were before, of the users whose plan has a limit; null where none has. */
  rateUsers: string[] | null;
  rateLimits: number[] | null;
  rateRequests: number[] | null;
  rateResetMs: number[] | null;
  /** Places of the endings that counted; null: all of them. */
  endedN: number[] | null;
  grants: GrantedSlot[] | null;
  wake: boolean;
  /** Queued predictions that this node has claimed along the way; the moment is still a text. */
  jobs: (Omit<ClaimedJob, "acceptedAt"> & { acceptedAt: string })[] | null;
}

/** Ends predictions, and admits arrivals if none must be refused or wait, in one statement; see migrations/0045. */
export async function writePredictions(
  sql: Sql,
  endings: readonly Ending[],
  arrivals: readonly PlainArrival[],
  { users, keys, models }: Tally,
  { nodeId, month, hands }: { nodeId: string; month: string; hands: number },
): Promise<Written> {
  const [row] = await sql<Written[]>`
    select admitted, here_starts as "hereStarts", rate_users as "rateUsers", rate_limits as "rateLimits", rate_requests as "rateRequests",
      rate_reset_ms as "rateResetMs", ended_n as "endedN", grants, wake, jobs
    from write_predictions(
      ${list(endings, (one) => one.id)}, ${list(endings, (one) => one.claim)}, ${list(endings, (one) => one.status)},
      ${list(endings, (one) => one.inference_ms)}, ${list(endings, (one) => quoted(one.output))},
      ${list(endings, (one) => quoted(one.error))}, ${list(endings, (one) => one.input_tokens)},
      ${list(endings, (one) => one.output_tokens)}, ${list(endings, (one) => one.cached_tokens)},
      ${list(endings, (one) => one.cache_write_tokens)},
      ${list(endings, (one) => quoted(one.stream_details))}, ${list(endings, (one) => one.price)},
      ${list(arrivals, (one) => one.id)}, ${list(users.places)}, ${list(keys.places)}, ${list(models.places)},
      ${list(arrivals, (one) => one.route)}, ${list(arrivals, (one) => one.highPriority)},
      ${list(arrivals, (one) => one.reservation)}, ${list(arrivals, (one) => one.queueSeconds)}, ${nodeId},
      ${list(arrivals, (one) => one.runId)}, ${list(arrivals, (one) => one.handFree ?? false)}, ${list(arrivals, (one) => quoted(one.queued?.input))},
      ${list(arrivals, (one) => quoted(one.queued?.pricing))}, ${list(arrivals, (one) => quoted(one.queued?.bounds))},
      ${list(arrivals, (one) => quoted(one.queued?.base_url))},
      ${list(arrivals, (one) => quoted(one.queued?.webhook_destination))},
      ${list(arrivals, (one) => one.queued?.webhook_target)},
      ${list(users.sums, (one) => one.id)}, ${list(users.sums, (one) => one.requests)},
      ${list(users.sums, (one) => one.clients)}, ${list(users.sums, (one) => one.here)},
      ${list(users.sums, (one) => one.reserved)},
      ${list(keys.sums, (one) => one.id)}, ${list(keys.sums, (one) => one.reserved)}, ${month},
      ${list(models.sums, (one) => one.id)}, ${list(models.sums, (one) => quoted(one.name))},
      ${list(models.sums, (one) => one.arrivals)}, ${list(models.sums, (one) => one.clients)},
      ${list(models.sums, (one) => one.here)}, ${hands})`;
  if (!row) throw new Error("writing predictions answered nothing");
  return row;
}

type Element = string | number | boolean | undefined;

/** An array as PostgreSQL reads it; null for one that holds nothing but nulls. Made here because it is made so often. */
function list<T>(items: readonly T[], of: (item: T) => Element = (item) => item as Element): string | null {
  const values: (string | number | boolean)[] = [];
  let hasValue = items.length === 0;
  for (const item of items) {
    const value = of(item);
    if (value !== undefined) hasValue = true;
    values.push(value ?? "NULL");
  }
  return hasValue ? `{${values.join(",")}}` : null;
}

function quoted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
