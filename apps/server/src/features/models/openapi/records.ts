import { errorSchemas } from "@gantry/wire";
import { type Json, nullable, record, schemaRef } from "./parts.ts";

const text: Json = { type: "string" };
const integer: Json = { type: "integer" };
const number: Json = { type: "number" };
const freeForm: Json = { type: "object", additionalProperties: true };
const counted = (type: string): Json => ({ type, default: 0 });
const loc: Json = { type: "array", items: { anyOf: [text, integer] } };

/** Records that all models share. */
export const records: Json = {
  AsyncInference: record(
    { prediction_id: text },
    { status: integer, result_url: { type: "string", format: "uri" }, cancel_url: { type: "string", format: "uri" } },
    { description: "A run was accepted. It is 202 until it ends." },
  ),
  InferenceResponses: record({ inference_responses: { type: "array", items: schemaRef("InferenceResponse") } }),
  InferenceResponse: record(
    {
      infer_details: schemaRef("InferDetails"),
      response: { ...freeForm, description: "The model's output; empty until the run ends, the error when it failed." },
    },
    { files: schemaRef("Files") },
  ),
  InferDetails: record(
    { status: integer, user_id: { title: "User Id" }, request_id: text },
    {
      inference_time: nullable("number", { description: "Seconds, without the time in the queue." }),
      stream_details: { anyOf: [schemaRef("StreamDetails"), { type: "null" }] },
    },
  ),
  StreamDetails: record(
    { input_tokens: integer, output_tokens: integer },
    {
      cached_tokens: integer,
      cache_write_tokens: integer,
      google_usage: freeForm,
      model_size_in_billions: number,
      estimated: { type: "boolean", description: "True when the tokens were counted here and not by the upstream." },
    },
  ),
  QueueSumMetrics: record(
    {},
    {
      ingress_rate: counted("number"),
      egress_rate: counted("number"),
      messages: counted("integer"),
      messages_ready: counted("integer"),
      messages_unacknowledged: counted("integer"),
    },
  ),
  PresignedUrl: record(
    { url: { type: "string", format: "uri", minLength: 1, maxLength: 2083 }, method: text },
    { file_input: nullable("object", { additionalProperties: true }) },
  ),
  Files: {
    type: "object",
    additionalProperties: schemaRef("PresignedUrl"),
    description:
      "A ready download link for each file of the output, under the name of its field. The files of a list are `field.0`, `field.1` and so on.",
  },
  StreamUser: record(
    { id: integer },
    {
      high_priority: nullable("boolean", {
        default: false,
        description: "Puts the run ahead of the others in this model's queue.",
      }),
    },
    { additionalProperties: true },
  ),
  CancelInference: record({ infer_id: text }),
  CancelPrediction: record({ prediction_id: text }),
  CancelledPrediction: record(
    { prediction_id: text, status: integer },
    {},
    { description: "499 when it was cancelled, its own status when it had already ended." },
  ),
  UploadBody: record({ file: { type: "string", format: "binary" } }),
  PredictionResult: record(
    {
      prediction_id: text,
      status: integer,
      output_data: schemaRef("DynamicOutputModel"),
      inference_time: { type: "number", description: "Seconds, without the time in the queue." },
      files: schemaRef("Files"),
    },
    {},
    { description: "A file output is an s3:// address under output_data; files has a link to it." },
  ),
  StreamEvent: {
    description: "The JSON of one data line.",
    anyOf: [
      record({ prediction_id: text }, {}, { description: "The first event." }),
      record(
        { output_data: freeForm, status: integer },
        {
          stream_details: schemaRef("StreamDetails"),
          restarted: {
            type: "boolean",
            description: "Only in JSON lines: the run started again. Discard earlier text; this is its text so far.",
          },
        },
        { description: "Fragments of the streamed fields. The last event has no fragments but the tokens." },
      ),
      record(
        { detail: { type: "array", items: schemaRef("Error") }, status: integer },
        {},
        { description: "The end." },
      ),
    ],
  },
  HTTPValidationError: record({ detail: { type: "array", items: schemaRef("ValidationError") } }),
  ValidationError: record({ loc, msg: text, type: text }, { url: text, ctx: freeForm, input: {} }),
  ...errorSchemas,
};
