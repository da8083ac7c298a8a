import { createHash } from "node:crypto";
import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import type { JobEnd } from "../../kernel/job-thread.ts";
import { createJobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import { faultOfSize, faultsOfValue } from "./schema-bounds.ts";
import type { JsonSchema, SchemaFault, Schemas } from "./schemas.ts";
import type { SchemaJob } from "./schemas.worker.ts";

export interface SchemasOptions {
  /** For one schema or one value. */
  deadlineMs?: number;
  /** For one value of a watched schema. Most values need a few milliseconds. */
  firstLookMs?: number;
  /** For schemas that are not watched. */
  threads?: number;
  /** Time for which a value that exceeded its deadline is refused without a check, and its schema is watched. */
  refusalMs?: number;
  onTrouble?: OnThreadTrouble;
}

/** Of one user in one lane. Further checks are refused with a retryable fault. */
const maxWaiting = { open: 1000, look: 100, patient: 4 };
const crowded = "Too many schemas are waiting to be checked";

type End = JobEnd<readonly SchemaFault[]>;

/**
 * Checks schemas with Ajv in threads.
 *
 * A slow check is usually caused by one hostile value, and other callers use the same schema. So only that value is
 * refused for a while. Its schema is watched meanwhile: its values run in separate lanes.
 *
 *   open ──too slow──► the value is refused, its schema watched
 *     └──watched──► first look (a short time, one thread) ──too slow──► patient (all its time, one thread)
 *
 * Users share each lane fairly, and no user has all threads of the open lane. A normal value of a watched schema waits
 * only for first looks, never for whole deadlines.
 */
export function createSchemas(options: SchemasOptions = {}): Schemas {
  const { deadlineMs = 1000, firstLookMs = 100, threads = 2, refusalMs = 10_000 } = options;
  const lane = (ms: number, size: number, waiting: number) => startLane(ms, size, waiting, options.onTrouble);
  const open = lane(deadlineMs, threads, maxWaiting.open);
  const look = lane(firstLookMs, 2, maxWaiting.look);
  const patient = lane(deadlineMs, 1, maxWaiting.patient);
  const watched = createExpiringSet(refusalMs);
  const refusedValues = createExpiringSet(refusalMs);
  const tooSlow: SchemaFault = { path: [], message: `Takes more than ${deadlineMs} ms to check` };

  async function faultsOf(
    userId: string,
    schema: JsonSchema,
    value?: { given: unknown },
    isLoose = false,
  ): Promise<readonly SchemaFault[]> {
    const { tooDeep, tooLarge } = faultsOfValue(value?.given);
    if (tooDeep) return [tooDeep];
    const ofSchema = (fault: SchemaFault) => (isLoose ? tooLarge : [fault]);
    const outOfBounds = faultOfSize(schema);
    if (outOfBounds) return ofSchema(outOfBounds);
    const end = await run(userId, { schema: JSON.stringify(schema), isLoose, ...(value && { value }) });
    if (end === "too slow") return ofSchema(tooSlow);
    if (end === "out of memory") return ofSchema({ path: [], message: "Takes too much memory to check" });
    if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
    if ("failed" in end) throw fault("internal_server_error", "The check failed");
    return [...tooLarge, ...end.result];
  }

  async function run(userId: string, job: SchemaJob): Promise<End> {
    const name = digest(job.schema);
    // Evaluated when the job starts, because an earlier job may have been slow.
    const end = await open.run(userId, job, () => (watched.has(name) ? "watched" : undefined));
    if (end === "watched") return runWatched(userId, name, job);
    if (end === "too slow") refuseForNow(name, nameOfValue(name, job));
    return end;
  }

  async function runWatched(userId: string, name: string, job: SchemaJob): Promise<End> {
    const valueName = nameOfValue(name, job);
    const ifRefused = () => (refusedValues.has(valueName) ? "too slow" : undefined);
    let end = await look.run(userId, job, ifRefused);
    if (end === "too slow") end = await patient.run(userId, job, ifRefused);
    if (end === "too slow") refuseForNow(name, valueName);
    return end;
  }

  function refuseForNow(name: string, valueName: string): void {
    watched.add(name);
    refusedValues.add(valueName);
  }

  return {
    check: (schema, userId) => faultsOf(userId, schema),
    validate: (schema, value, userId) => faultsOf(userId, schema, { given: value }),
    validateLoosely: (schema, value, userId) => faultsOf(userId, schema, { given: value }, true),
    async close() {
      await Promise.all([open.close(), look.close(), patient.close()]);
    },
  };
}

function startLane(deadlineMs: number, threads: number, mostWaiting: number, onTrouble: OnThreadTrouble | undefined) {
  const fairQueue = createFairQueue({
    atOnce: threads,
    ofOne: Math.max(1, threads - 1),
    maxWaiting: mostWaiting,
    crowded,
  });
  const jobs = createJobThreads<SchemaJob, readonly SchemaFault[]>({
    script: new URL("./schemas.worker.ts", import.meta.url),
    worker: { resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } },
    deadlineMs,
    threads,
    maxWaiting: threads,
    crowded,
    onTrouble,
  });
  return {
    run: <Known>(userId: string, job: SchemaJob, known: () => Known | undefined): Promise<End | Known> =>
      fairQueue<End | Known>(userId, async () => known() ?? jobs.run(job)),
    close: jobs.close,
  };
}

function nameOfValue(schemaName: string, { value }: SchemaJob): string {
  return `${schemaName} ${digest(JSON.stringify(value) ?? "")}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

const mostNames = 1000;

/** A name expires `lifeMs` after it was last added. */
function createExpiringSet(lifeMs: number) {
  const until = new Map<string, number>();
  return {
    has: (name: string) => (until.get(name) ?? 0) > performance.now(),
    add(name: string): void {
      const [oldest] = until.keys();
      until.delete(name);
      if (until.size >= mostNames && oldest !== undefined) until.delete(oldest);
      until.set(name, performance.now() + lifeMs);
    },
  };
}
