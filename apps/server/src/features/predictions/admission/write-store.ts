import type { Sql } from "../../../engines/database/database.ts";
import type { ArrivingPrediction, ClaimedJob, Decision, Ending, GrantedSlot } from "../prediction.ts";

/** An ended prediction that has a webhook, or files among its stored input. */
export interface EndedMore {
  /** Index among the endings. */
  n: number;
  id: string;
  user_id: string;
  model_name: string;
  destination: string | null;
  target: string | null;
  base_url: string;
  /** Null if it has no files. */
  input: Record<string, unknown> | null;
}

export interface Written {
  /** One for each arrival; null if all of them run and no plan has a limit per minute. */
  decisions: Decision[] | null;
  /** Indexes of the endings that took effect. */
  ended: number[] | null;
  /** The models of these. */
  endedModels: string[] | null;
  grants: GrantedSlot[] | null;
  wake: boolean | null;
  /** Queued predictions that this node has claimed in the same statement. */
  jobs: ClaimedJob[] | null;
  more: EndedMore[] | null;
}

export interface WriteOptions {
  nodeId: string;
  /** The current day of UTC, for the limits of keys. */
  today: string;
  /** Worker slots that may be filled with queued predictions. */
  slots?: number;
  /** Also ends predictions that have a webhook, and returns `more`. */
  withMore?: boolean;
  /** Returns before the commit has reached the disk. */
  lazily?: boolean;
}

/** Admits arrivals and ends predictions in one statement; see sql/write.sql. */
export async function writePredictions(
  sql: Sql,
  arrivals: readonly ArrivingPrediction[],
  endings: readonly Ending[],
  { nodeId, today, slots = 0, withMore = false, lazily = false }: WriteOptions,
): Promise<Written> {
  const [row] = await sql<Written[]>`
    select decisions, ended, ended_models as "endedModels", grants, wake, jobs, more
    from write_batch(${rowsOf(arrivals, arrivalFields)}::text::arriving_prediction[],
      ${distinct(arrivals, (one) => one.userId)}, ${distinct(arrivals, (one) => one.keyId)},
      ${distinct(arrivals, (one) => one.modelId)}, ${rowsOf(endings, endingFields)}::text::prediction_end[], ${nodeId}, ${today}::date, ${slots}, ${withMore}, ${lazily})`;
  if (!row) throw new Error("write_batch returned no row");
  return row;
}

type Field = string | number | boolean | undefined | null;

/** In the order of the type `arriving_prediction`. */
const arrivalFields = (one: ArrivingPrediction): Field[] => [
  one.id,
  one.userId,
  one.keyId,
  one.modelId,
  one.modelName,
  one.route,
  one.highPriority,
  one.reservation,
  one.queueSeconds,
  one.purpose,
  one.runId,
  one.mustBeCovered ?? false,
  one.sponsored ?? false,
  one.hasSlot ?? false,
  one.queued?.input,
  one.queued?.pricing,
  one.queued?.bounds,
  one.queued?.baseUrl,
  one.queued?.webhookDestination,
  one.queued?.webhookTarget,
  one.door,
  undefined,
  undefined,
  one.tokens?.reserved,
  one.promised,
];

/** In the order of the type `prediction_end`. */
const endingFields = (one: Ending): Field[] => [
  one.id,
  one.claim,
  one.status,
  one.inferenceMs,
  one.output,
  one.error,
  one.inputTokens,
  one.outputTokens,
  one.cachedTokens,
  one.cacheWriteTokens,
  one.streamDetails,
  one.price,
  one.backend,
  one.kept,
];

const distinct = <T>(items: readonly T[], of: (item: T) => string): string[] => [...new Set(items.map(of))];

/** An array literal of a composite type: texts are quoted within the row, and the row within the array. */
function rowsOf<T>(items: readonly T[], fieldsOf: (item: T) => Field[]): string {
  return `{${items.map((item) => `"(${fieldsOf(item).map(fieldText).join(",")})"`).join(",")}}`;
}

function fieldText(value: Field): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return String(value);
  return `\\"${value.replace(/["\\]/g, (mark) => (mark === '"' ? '\\\\\\"' : "\\\\\\\\"))}\\"`;
}
