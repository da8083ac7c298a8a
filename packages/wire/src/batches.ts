import { z } from "zod";

/** Files and batches in the form of OpenAI's protocol. */

const seconds = z.int().describe("Unix time in seconds.");
const moment = seconds.nullable();

export const protocolFile = z.object({
  id: z.string(),
  object: z.literal("file"),
  bytes: z.int(),
  created_at: seconds,
  filename: z.string(),
  purpose: z.enum(["batch", "batch_output"]),
  status: z.literal("processed"),
});
export type ProtocolFileRecord = z.infer<typeof protocolFile>;

export const protocolFiles = z.object({
  object: z.literal("list"),
  data: z.array(protocolFile),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export const deletedFile = z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) });

const limit = z.coerce.number().int().min(1);
const after = z.string().optional().describe("The id of the last entry of the page before.");

export const fileListQuery = z.object({
  purpose: z.string().optional(),
  limit: limit.max(10_000).default(1_000).describe("At most 1,000 are returned."),
  order: z.enum(["asc", "desc"]).default("desc"),
  after,
});
export const batchListQuery = z.object({ limit: limit.max(100).default(20), after });

export const batchBody = z.object({
  input_file_id: z.string().min(1).describe("A file with purpose `batch`."),
  endpoint: z
    .enum(["/v1/chat/completions", "/v1/embeddings", "/v1/responses"])
    .describe("The `url` of every line of the file."),
  completion_window: z.literal("24h"),
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((pairs) => Object.keys(pairs).length <= 16, "At most 16 pairs")
    .nullish()
    .describe("At most 16 texts by name."),
});

export const batchRecord = z.object({
  id: z.string(),
  object: z.literal("batch"),
  endpoint: z.string(),
  errors: z
    .object({
      object: z.literal("list"),
      data: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          param: z.string().nullable(),
          line: z.int().nullable(),
        }),
      ),
    })
    .nullable(),
  input_file_id: z.string(),
  completion_window: z.literal("24h"),
  status: z.enum([
    "validating",
    "failed",
    "in_progress",
    "finalizing",
    "completed",
    "expired",
    "cancelling",
    "cancelled",
  ]),
  output_file_id: z.string().nullable().describe("Lines that succeeded."),
  error_file_id: z.string().nullable().describe("Lines that failed or never ran."),
  created_at: seconds,
  in_progress_at: moment,
  expires_at: seconds,
  finalizing_at: moment,
  completed_at: moment,
  failed_at: moment,
  expired_at: moment,
  cancelling_at: moment,
  cancelled_at: moment,
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  metadata: z.record(z.string(), z.string()).nullable(),
});
export type BatchRecord = z.infer<typeof batchRecord>;

export const batchList = z.object({
  object: z.literal("list"),
  data: z.array(batchRecord),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
