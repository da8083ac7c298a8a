import { createHash } from "node:crypto";
import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import type { JobEnd } from "../../kernel/job-thread.ts";
import { createJobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import type { SchemaJob } from "./protocol.ts";
import { createResting } from "./resting.ts";
import { faultOfSize, faultsOfValue } from "./schema-bounds.ts";
import type { JsonSchema, SchemaFault, Schemas } from "./schemas.ts";

export interface SchemasOptions {
  /** For one schema or one value. */
  deadlineMs?: number;
  /** For one value of a schema that is watched. A good one needs a few milliseconds, so hardly any needs more. */
  firstLookMs?: number;
  /** For schemas of which nothing was slow lately. */
  threads?: number;
  /** How long a value that ran out of time is refused without another try, and its schema is watched. */
  restMs?: number;
  onTrouble?: OnThreadTrouble;
}

/** Of one user in one lane: who comes when so many wait already is refused, retryably. */
const maxWaiting = { open: 1000, look: 100, patient: 4 };
const crowded = "Too many schemas wait to be checked";

type End = JobEnd<readonly SchemaFault[]>;

/**
 * Schemas by Ajv, in threads of their own. A thread is started when a job needs one, and kept.
 *
 * What is slow is mostly one value, made by somebody to be slow, and its schema serves others too. So that value alone
 * is refused, and rests; its schema is watched for a while, which keeps its values away from the threads of all others:
 *
 *   open ──too slow──► the value is refused, its schema watched
 *     └──watched──► first look (a short time, one thread) ──too slow──► patient (all its time, one thread)
 *
 * Each lane is shared fairly among users, and none of them has all threads of the open lane, however many schemas and
 * values it brings. A good value of a watched schema waits for first looks only, never for whole deadlines.
 */
export function createSchemas(options: SchemasOptions = {}): Schemas {
  const { deadlineMs = 1000, firstLookMs = 100, threads = 2, restMs = 10_000 } = options;
  const lane = (ms: number, size: number, waiting: number) => startLane(ms, size, waiting, options.onTrouble);
  const open = lane(deadlineMs, threads, maxWaiting.open);
  const look = lane(firstLookMs, 2, maxWaiting.look);
  const patient = lane(deadlineMs, 1, maxWaiting.patient);
  const watched = createResting(restMs);
  const resting = createResting(restMs);
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
    if ("failed" in end) throw fault("internal_server_error", "The check broke off");
    return [...tooLarge, ...end.result];
  }

  async function run(userId: string, job: SchemaJob): Promise<End> {
    const name = digest(job.schema);
    // Asked when its turn has come: what came before it may have been slow.
    const end = await open.run(userId, job, () => (watched.has(name) ? "watched" : undefined));
    if (end === "watched") return runWatched(userId, name, job);
    if (end === "too slow") rest(name, nameOfValue(name, job));
    return end;
  }

  async function runWatched(userId: string, name: string, job: SchemaJob): Promise<End> {
    const valueName = nameOfValue(name, job);
    const ifResting = () => (resting.has(valueName) ? "too slow" : undefined);
    let end = await look.run(userId, job, ifResting);
    if (end === "too slow") end = await patient.run(userId, job, ifResting);
    if (end === "too slow") rest(name, valueName);
    return end;
  }

  function rest(name: string, valueName: string): void {
    watched.add(name);
    resting.add(valueName);
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
  const inTurn = createFairQueue({
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
      inTurn<End | Known>(userId, async () => known() ?? jobs.run(job)),
    close: jobs.close,
  };
}

function nameOfValue(schemaName: string, { value }: SchemaJob): string {
  return `${schemaName} ${digest(JSON.stringify(value) ?? "")}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
