import { z } from "zod";
import { backendListSchema } from "./backends.ts";

const figures = z
  .object({
    calls: z.int().describe("Tries, also of calls that another backend answered in the end."),
    failures: z.int(),
    p50_ms: z
      .int()
      .nullable()
      .describe("Median time to the first byte, accurate to 12 %. Null if no call was answered."),
    p95_ms: z.int().nullable().describe("95th percentile of the time to the first byte."),
  })
  .nullable();

const { type } = backendListSchema.element.shape;

export const backendRecord = z
  .object({
    name: z.string().describe("The name in the manifest. The type, if the manifest has only one backend."),
    type,
    weight: z.int(),
    priority: z.int(),
    capacity: z.int().nullable(),
    circuit: z
      .enum(["closed", "open", "half_open"])
      .describe("`open`: left out for a while, because it failed. `half_open`: the next call tests it."),
    opened_at: z.iso.datetime().nullable().describe("Since when the circuit is not closed."),
    open_until: z.iso.datetime().nullable(),
    reason: z
      .string()
      .nullable()
      .describe("Why the circuit is not closed: a status, `unreachable`, `timeout` and others."),
    failures: z.int().describe("Failures in a row when the circuit was opened. 0 if it is closed."),
    running: z.int().nullable().describe("Calls that run now, over all nodes. Null for backends without a capacity."),
    last_hour: figures.describe("Null without calls."),
    last_day: figures.describe("Null without calls."),
  })
  .describe("One of the backends of a model, with its state and figures.");
export type BackendRecord = z.infer<typeof backendRecord>;
