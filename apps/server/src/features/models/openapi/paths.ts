import type { Manifest } from "@gantry/wire";
import { inputBody } from "./input-models.ts";
import { inputErrors, type Json, readErrors, runErrors, schemaRef, syncErrors } from "./parts.ts";

const eitherKey = [{ "X-API-KEY": [] }, { APIKeyHeader: [] }];
const ownKey = [{ "X-API-KEY": [] }];

const json = (description: string, schema: Json): Json => ({
  description,
  content: { "application/json": { schema } },
});

const query = (name: string, required: boolean, schema: Json, description: string): Json => ({
  name,
  in: "query",
  required,
  schema,
  description,
});

const header = (name: string, schema: Json, description: string): Json => ({
  name,
  in: "header",
  required: false,
  schema,
  description,
});

const text: Json = { type: "string" };
const idempotencyKey = header(
  "Idempotency-Key",
  { type: "string" },
  "A repeat under the same key within 24 hours gets the first answer.",
);

const operation = (operationId: string, summary: string, rest: Json): Json => ({
  operationId,
  summary,
  security: eitherKey,
  ...rest,
});

/** The three ways to run the model. */
function predictPaths(manifest: Manifest, streams: boolean): Json {
  const synchronous = schemaRef(streams ? "Refusal" : "PredictionResult");
  const events = { schema: schemaRef("StreamEvent") };
  return {
    "/predict": {
      post: operation("predict", streams ? "Refused: this model only streams" : "Run and wait for the result", {
        parameters: [idempotencyKey],
        requestBody: inputBody(manifest, schemaRef("DynamicInputModel")),
        responses: {
          200: json(streams ? "status_code 421: call /predict/stream/ instead." : "The result.", synchronous),
          ...syncErrors,
        },
      }),
    },
    "/predict/stream/": {
      post: operation("predictStream", "Run and receive the output as Server-Sent Events", {
        parameters: [header("user-agent", text, "The calling program.")],
        requestBody: inputBody(manifest, schemaRef("DynamicStreamInputModel")),
        responses: {
          200: { description: "The events of the run.", content: { "text/event-stream": events } },
          ...runErrors,
        },
      }),
    },
    "/predict/async/": {
      post: operation("predictAsync", "Queue a run and fetch its result later", {
        parameters: [idempotencyKey],
        requestBody: inputBody(manifest, schemaRef("DynamicAsyncInputModel")),
        responses: {
          200: {
            description: "The run is accepted.",
            content: {
              "application/json": { schema: schemaRef("AsyncInference") },
              "application/x-ndjson": events,
            },
          },
          ...runErrors,
        },
      }),
    },
  };
}

function resultOperation(operationId: string): Json {
  return operation(operationId, "The state or the result of a run", {
    parameters: [
      query("request_id", true, text, "The prediction_id of the run."),
      query(
        "wait",
        false,
        { type: "number", minimum: 0, maximum: 60, default: 0 },
        "Waits for the end of the run, up to this many seconds.",
      ),
    ],
    responses: {
      200: {
        description: "One item.",
        content: {
          "application/json": { schema: schemaRef("InferenceResponses") },
          "application/x-ndjson": { schema: schemaRef("StreamEvent") },
        },
      },
      ...inputErrors,
    },
  });
}

function cancelOperation(operationId: string, manifest: Manifest): Json {
  const ids = [schemaRef("CancelInference"), schemaRef("CancelPrediction")];
  const { content } = inputBody(manifest, { anyOf: [...ids, schemaRef("DynamicInputModel")] }) as { content: Json };
  const named = (name: string) => query(name, false, text, "The id of the run, unless the body has it.");
  return operation(operationId, "Cancel a run", {
    security: ownKey,
    parameters: [named("prediction_id"), named("infer_id")],
    requestBody: {
      required: false,
      description: "The id of the run, unless the query has it; other fields are ignored.",
      content: { ...content, "application/json": { schema: { anyOf: ids } } },
    },
    responses: { 200: json("What became of it.", schemaRef("CancelledPrediction")), ...inputErrors },
  });
}

function storagePaths(): Json {
  const link = (description: string) => ({ 200: json(description, schemaRef("PresignedUrl")), ...inputErrors });
  return {
    "/flow": {
      get: operation("flow", "How busy the queue of the model is", {
        responses: { 200: json("The queue over all nodes.", schemaRef("QueueSumMetrics")), ...inputErrors },
      }),
    },
    "/upload_url": {
      get: operation("uploadUrl", "A link to upload a file to", {
        parameters: [
          query("filename", false, text, "Name of the file."),
          query("content_type", false, text, "Content type of the file."),
        ],
        responses: link("A link for a PUT of the file; file_input.s3_path is its address."),
      }),
    },
    "/download_s3_url": {
      get: operation("downloadS3Url", "A link to download a file from", {
        parameters: [query("s3_path_to_sign", true, text, "The s3:// address of the file.")],
        responses: link("A link that is valid for 86400 seconds."),
      }),
    },
    "/upload_file": {
      post: operation("uploadFile", "Store a file", {
        requestBody: { required: true, content: { "multipart/form-data": { schema: schemaRef("UploadBody") } } },
        responses: link("A link to download it; file_input.s3_path is its address."),
      }),
    },
    "/openapi.json": {
      get: operation("openapi", "This document", {
        responses: { 200: json("OpenAPI 3.1.0.", { type: "object", additionalProperties: true }), ...readErrors },
      }),
    },
  };
}

/** Every route of a model, below its own address. */
export function modelPaths(manifest: Manifest): Json {
  const streams = Object.values(manifest.output.properties).some((field) => field.isStream === true);
  return {
    ...predictPaths(manifest, streams),
    "/predict/async/result/": { get: resultOperation("result"), post: resultOperation("resultByPost") },
    "/predict/cancel/": {
      post: cancelOperation("cancel", manifest),
      patch: cancelOperation("cancelByPatch", manifest),
    },
    ...storagePaths(),
  };
}
