import { createHash } from "node:crypto";
import { fault } from "../../kernel/errors.ts";
import { CheckingThread, type JobEnd } from "./checking-thread.ts";
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

interface Waiting {
  job: Omit<SchemaJob, "id">;
  resolve(end: JobEnd): void;
  reject(error: Error): void;
}

/** Who comes when so many wait already is refused, retryably. */
const maxWaiting = 1000;
const maxResting = 1000;

/** Schemas by Ajv, in threads of their own. A thread is started when a job needs one, and kept. */
export function createSchemas(options: SchemasOptions = {}): Schemas {
  const { deadlineMs = 1000, threads: most = 2, restMs = 10_000 } = options;
  const threads = new Set<CheckingThread>();
  const queue: Waiting[] = [];
  const resting = new Map<string, number>();
  const tooSlow: SchemaFault = { path: [], message: `Takes more than ${deadlineMs} ms to check` };
  let isClosed = false;

  function next(): void {
    while (queue.length > 0) {
      const thread = [...threads].find(({ isIdle }) => isIdle) ?? (threads.size < most ? start() : undefined);
      const waiting = thread && queue.shift();
      if (!waiting) return;
      thread.run(waiting.job).then((end) => {
        waiting.resolve(end);
        next();
      });
    }
  }

  function start(): CheckingThread {
    const thread = new CheckingThread(deadlineMs, () => threads.delete(thread));
    threads.add(thread);
    return thread;
  }

  function run(job: Omit<SchemaJob, "id">): Promise<JobEnd> {
    return new Promise((resolve, reject) => {
      if (isClosed || queue.length >= maxWaiting) {
        reject(fault("service_unavailable", "Too many schemas wait to be checked"));
        return;
      }
      queue.push({ job, resolve, reject });
      next();
    });
  }

  async function look(schema: JsonSchema, value?: { given: unknown }): Promise<readonly SchemaFault[]> {
    const tooLarge = faultOfSize(schema);
    if (tooLarge) return [tooLarge];
    const text = JSON.stringify(schema);
    const name = createHash("sha256").update(text).digest("base64");
    if ((resting.get(name) ?? 0) > performance.now()) return [tooSlow];
    const end = await run({ schema: text, ...(value && { value }) });
    if (end === "too slow") {
      if (resting.size >= maxResting) resting.clear();
      resting.set(name, performance.now() + restMs);
      return [tooSlow];
    }
    if (end !== "lost") return end.faults;
    if (isClosed) throw fault("service_unavailable", "The server is shutting down");
    return [{ path: [], message: "Takes too much memory to check" }];
  }

  return {
    check: (schema) => look(schema),
    validate: (schema, value) => look(schema, { given: value }),
    async close() {
      isClosed = true;
      for (const { reject } of queue.splice(0)) reject(fault("service_unavailable", "The server is shutting down"));
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}
