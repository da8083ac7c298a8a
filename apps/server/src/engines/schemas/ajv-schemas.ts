import { createHash } from "node:crypto";
import { fault } from "../../kernel/errors.ts";
import { createJobThreads } from "../../kernel/job-threads.ts";
import type { SchemaJob } from "./protocol.ts";
import { faultOfSize } from "./schema-bounds.ts";
import type { JsonSchema, SchemaFault, Schemas } from "./schemas.ts";

export interface SchemasOptions {
  /** For one schema or one value. */
  deadlineMs?: number;
  threads?: number;
  /** How long a schema that ran out of time is refused without another try: it has cost everybody a second. */
  restMs?: number;
}

/** Who comes when so many wait already is refused, retryably. */
const maxWaiting = 1000;
const maxResting = 1000;

/** Schemas by Ajv, in threads of their own. A thread is started when a job needs one, and kept. */
export function createSchemas(options: SchemasOptions = {}): Schemas {
  const { deadlineMs = 1000, threads = 2, restMs = 10_000 } = options;
  const checking = createJobThreads<SchemaJob, readonly SchemaFault[]>({
    script: new URL("./schemas.worker.ts", import.meta.url),
    worker: { resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } },
    deadlineMs,
    threads,
    maxWaiting,
    crowded: "Too many schemas wait to be checked",
  });
  const resting = new Map<string, number>();
  const tooSlow: SchemaFault = { path: [], message: `Takes more than ${deadlineMs} ms to check` };

  async function look(schema: JsonSchema, value?: { given: unknown }): Promise<readonly SchemaFault[]> {
    const tooLarge = faultOfSize(schema);
    if (tooLarge) return [tooLarge];
    const text = JSON.stringify(schema);
    const name = createHash("sha256").update(text).digest("base64");
    if ((resting.get(name) ?? 0) > performance.now()) return [tooSlow];
    const end = await checking.run({ schema: text, ...(value && { value }) });
    if (end === "too slow") {
      if (resting.size >= maxResting) resting.clear();
      resting.set(name, performance.now() + restMs);
      return [tooSlow];
    }
    if (end !== "lost" && end !== "stopped") return end.result;
    if (checking.isClosed) throw fault("service_unavailable", "The server is shutting down");
    return [{ path: [], message: "Takes too much memory to check" }];
  }

  return {
    check: (schema) => look(schema),
    validate: (schema, value) => look(schema, { given: value }),
    close: checking.close,
  };
}
