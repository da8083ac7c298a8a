import { z } from "zod";
import { datedListQuery } from "./account-queries.ts";
import { doors } from "./money.ts";
import { choice, onlyParameters, searchTextIfAny } from "./query-schema.ts";
import { deliveryStatuses } from "./webhooks.ts";

export const predictionStatuses = ["waiting", "running", "succeeded", "failed", "cancelled"] as const;
export type PredictionStatus = (typeof predictionStatuses)[number];

export const predictionModes = ["sync", "stream", "async", "agent"] as const;
export type PredictionMode = (typeof predictionModes)[number];

/** Each filter is a single value. */
const text = searchTextIfAny;

export const predictionsQuery = onlyParameters({
  ...datedListQuery.shape,
  model: text.describe("Only predictions of this model, as `owner/model`."),
  status: choice(predictionStatuses).optional(),
  key_id: text.describe("Only predictions of this key."),
  mode: choice(predictionModes).optional().describe("How the prediction was called."),
  agent_id: text.describe("Only model calls of runs of this agent."),
  run_id: text.describe("Only model calls of this run."),
  q: text.describe("The id of a prediction, or a part of it."),
});

const dollars = z.number().describe("Dollars.");
const tokens = z.int().nullable();
const named = z.strictObject({ id: z.string(), name: z.string() });

export const predictionSummary = z.object({
  id: z.string(),
  model_name: z.string().describe("`owner/model` at the time of the call."),
  mode: z.enum(predictionModes).describe("How the prediction was called; `agent`: a model call of a run."),
  status: z.enum(predictionStatuses),
  status_code: z.int().nullable().describe("200, or the status of the error; null until it ends."),
  created_at: z.iso.datetime(),
  started_at: z.iso
    .datetime()
    .nullable()
    .describe("When it began to run; null while it waits, if it never started, and after the result has expired."),
  ended_at: z.iso.datetime().nullable(),
  queued_time: z.number().nullable().describe("Seconds from its creation to its start; null if it is not known."),
  inference_time: z.number().nullable().describe("Seconds, without the time in the queue."),
  input_tokens: tokens,
  output_tokens: tokens,
  cached_tokens: tokens.describe("Input tokens that the backend read from its cache."),
  cache_write_tokens: z.int().describe("Input tokens that the backend wrote to its cache."),
  price: dollars.nullable().describe("Dollars; 0 if it failed, null until it ends."),
  reserved: dollars.describe("Dollars on hold until it ends, then 0."),
  door: z.enum(doors).nullable().describe("The protocol of the client; null for Gantry's own API."),
  backend: z
    .string()
    .nullable()
    .describe(
      "The backend that answered, or the last one that was tried. Null for models of others and keys limited to models.",
    ),
  key: named.nullable().describe("The key that was used; null if another user's run was paid by you."),
  run_id: z.string().nullable().describe("The run whose model call this is."),
  agent: named.nullable().describe("The agent of that run."),
  batch_id: z.string().nullable().describe("The batch of which this is a line."),
  preview: z
    .strictObject({
      input: z.string().nullable().describe("The beginning of the prompt, or of the last message of the user."),
      output: z.string().nullable().describe("The beginning of the text that was generated."),
      file: z
        .strictObject({
          url: z.string().describe("The `s3://` address."),
          content_type: z.string(),
          link: z.string().describe("A download link that expires."),
        })
        .nullable()
        .describe("The first file that was generated."),
    })
    .describe("At most 200 characters each."),
});
export type PredictionSummary = z.infer<typeof predictionSummary>;

export const inputStates = ["kept", "pending", "not_kept", "deleted", "expired"] as const;
export type InputState = (typeof inputStates)[number];

/** An entry of `error`. */
const issue = z.looseObject({ type: z.string(), msg: z.string(), loc: z.array(z.unknown()).optional() });

export const predictionRecord = predictionSummary.extend({
  request_id: z.string().nullable().describe("The `X-Request-Id` of the request that created it."),
  trace_id: z.string().nullable().describe("Its trace at the operator's OpenTelemetry collector, if it is recorded."),
  input: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      'A stored file is `{"$stored": "s3://…"}`. A file sent with the request is not kept: `{"$inline": {name, content_type, size, sha256}}`.',
    ),
  input_state: z
    .enum(inputStates)
    .describe(
      "`pending`: stored when the prediction ends; `not_kept`: a setting, the key, the model or the request opted out, or it is a model call of a run, whose trace has it; `deleted`: by its owner; `expired`: deleted after the time that results are kept.",
    ),
  input_truncated: z.boolean().describe("Whether long texts or lists were cut. At most 256 KB are kept."),
  output: z.record(z.string(), z.unknown()).nullable().describe("Files are `s3://` addresses."),
  files: z
    .record(z.string(), z.unknown())
    .describe("Download links of the output's files: `field`, or `field.0`, `field.1`, … for lists."),
  error: z.array(issue).nullable(),
  text: z.string().nullable().describe("The text that a failed or cancelled prediction had generated."),
  stream_details: z.record(z.string(), z.unknown()).nullable(),
  webhook: z
    .strictObject({ delivery_id: z.string(), status: z.enum(deliveryStatuses) })
    .nullable()
    .describe("Null until it ends, and without a webhook."),
});
/** A prediction with its input and output, as long as they are kept. */
export type PredictionRecord = z.infer<typeof predictionRecord>;
