import type { Sql } from "../../../engines/database/database.ts";
import type { ArrivingPrediction, ClaimedJob, Decision, Ending, GrantedSlot } from "../store.ts";

/** What has ended and is more than a row: one with a webhook, or with files among its stored input. */
export interface EndedMore {
  /** Its place among the endings. */
  n: number;
  id: string;
  user_id: string;
  model_name: string;
  destination: string | null;
  target: string | null;
  base_url: string;
  /** Null where it has no files. */
  input: Record<string, unknown> | null;
}

export interface Written {
  /** One for each arrival; null where all of them run and no plan has a limit a minute. */
  decisions: Decision[] | null;
  /** Places of the endings that counted; null: none did. */
  ended: number[] | null;
  /** Their models. */
  endedModels: string[] | null;
  grants: GrantedSlot[] | null;
  wake: boolean | null;
  /** Queued predictions that this node has claimed along the way. */
  jobs: ClaimedJob[] | null;
  more: EndedMore[] | null;
}

export interface WriteOptions {
  nodeId: string;
  /** The first day of the month that keys spend in now. */
  month: string;
  /** Free for queued predictions. */
  hands?: number;
  /** Ends those with a webhook too; what they need for it is answered. */
  withMore?: boolean;
  /** Answers before the commit has reached the disk. */
  lazily?: boolean;
}

/** Decides about arrivals and ends predictions in one statement; see sql/write.sql. */
export async function writePredictions(
  sql: Sql,
  arrivals: readonly ArrivingPrediction[],
  endings: readonly Ending[],
  { nodeId, month, hands = 0, withMore = false, lazily = false }: WriteOptions,
): Promise<Written> {
  const [row] = await sql<Written[]>`
    select decisions, ended, ended_models as "endedModels", grants, wake, jobs, more
    from write_predictions(${rowsOf(arrivals, arrivalFields)}::text::prediction_arrival[],
      ${distinct(arrivals, (one) => one.userId)}, ${distinct(arrivals, (one) => one.keyId)},
      ${distinct(arrivals, (one) => one.modelId)}, ${rowsOf(endings, endingFields)}::text::prediction_end[], ${nodeId}, ${month}::date, ${hands}, ${withMore}, ${lazily})`;
  if (!row) throw new Error("writing predictions answered nothing");
  return row;
}

type Field = string | number | boolean | undefined | null;

/** In the order of the type `prediction_arrival`. */
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
  one.handFree ?? false,
  one.queued?.input,
  one.queued?.pricing,
  one.queued?.bounds,
  one.queued?.baseUrl,
  one.queued?.webhookDestination,
  one.queued?.webhookTarget,
  undefined,
  undefined,
  undefined,
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
  undefined,
  undefined,
];

const distinct = <T>(items: readonly T[], of: (item: T) => string): string[] => [...new Set(items.map(of))];

/** An array of a composite type as PostgreSQL reads it: texts are quoted within the row, and the row within the array. */
function rowsOf<T>(items: readonly T[], fieldsOf: (item: T) => Field[]): string {
  return `{${items.map((item) => `"(${fieldsOf(item).map(fieldText).join(",")})"`).join(",")}}`;
}

function fieldText(value: Field): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return String(value);
  return `\\"${value.replace(/["\\]/g, (mark) => (mark === '"' ? '\\\\\\"' : "\\\\\\\\"))}\\"`;
}
