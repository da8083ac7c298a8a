import type { FieldSchema, Manifest } from "@gantry/wire";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { imageManifest } from "../../../engines/models/builtin/image-manifest.ts";
import { defaultTextManifest, rulesManifest, textManifest } from "../../../engines/models/builtin/text-manifests.ts";
import { checkManifest } from "../manifest.rules.ts";
import { modelOpenApi } from "./model-openapi.ts";

interface Operation {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: {
    required: boolean;
    content: Record<string, { schema: { $ref?: string }; encoding?: Record<string, { contentType: string }> }>;
  };
  responses: Record<string, { content: Record<string, { schema: { $ref: string } }> }>;
}
interface Document {
  [part: string]: unknown;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, FieldSchema>; securitySchemes: unknown };
}

/** As a client reads it. */
function documentOf(manifest: Manifest): Document {
  return JSON.parse(JSON.stringify(modelOpenApi({ endpointId: "o/m", manifest }, "http://localhost:8080")));
}

function operation(document: Document, path: string, method: string): Operation {
  const found = document.paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is missing`);
  return found;
}

/** Some manifest of every kind of field, drawn from the given number. */
function randomManifest(seed: number): Manifest {
  let state = seed;
  const draw = <T>(choices: readonly T[]): T => {
    state = (state * 48_271) % 2_147_483_647;
    return choices[state % choices.length] as T;
  };
  const fields: FieldSchema[] = [
    { type: "string", minLength: 1, maxLength: 9, default: "abc", description: "text" },
    { type: ["string", "null"], enum: ["a", "b"], default: null },
    { type: "integer", minimum: 0, maximum: 5, default: 3 },
    { type: ["number", "null"], maximum: 0.5 },
    { type: "boolean", default: false, deprecated: true },
    { type: "array", items: { type: "string", format: "uri" }, minItems: 1 },
    {
      type: "object",
      properties: { deep: { type: "array", items: {} } },
      required: ["deep"],
      additionalProperties: false,
    },
    { type: ["string", "null"], format: "binary", "x-media": "video", "x-max-duration": 3, "x-formats": [".mp4"] },
    { type: "string", format: "binary", "x-media": "audio" },
    { type: "string", format: "binary", "x-media": "file", "x-anything": { a: [1] } },
    { type: "string", format: "date-time", examples: ["2030-01-01T00:00:00Z"] },
  ];
  const names = Array.from({ length: draw([0, 1, 5, 20]) }, (_, i) => `field-${i}`);
  const { manifest, issues } = checkManifest("m", {
    kind: draw(["image", "video", "other"]),
    input: {
      type: "object",
      title: "Input of my own",
      properties: Object.fromEntries(names.map((name) => [name, draw(fields)])),
      ...(names.length > 1 && { required: names.slice(0, 2) }),
    },
    output: { type: "object", properties: { out: draw([{ type: "string", isStream: true }, ...fields]) } },
    backend: { type: "cog", url: "http://x" },
  });
  if (!manifest) throw new Error(JSON.stringify(issues));
  return manifest;
}

describe("passes a public validator of OpenAPI 3.1", () => {
  const manifests: [string, Manifest][] = [
    ["the image model", imageManifest],
    ["gantry/text", textManifest],
    ["gantry/rules", rulesManifest],
    ["anthropic/default", defaultTextManifest({ anthropicKey: true })],
    ...Array.from({ length: 25 }, (_, i): [string, Manifest] => [`random ${i}`, randomManifest(i * 7919 + 1)]),
  ];
  test.each(manifests)("%s", async (_, manifest) => {
    const validator = new Validator();
    expect(await validator.validate(documentOf(manifest))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    // Every reference leads somewhere.
    expect(JSON.stringify(validator.resolveRefs())).not.toContain('"$ref"');
  });

  test("which refuses an invalid document", async () => {
    const broken = documentOf(imageManifest);
    const result = await new Validator().validate({ ...broken, info: {} });
    expect(result.valid).toBe(false);
  });
});

describe("the image model", () => {
  const document = documentOf(imageManifest);

  test("has every route with its methods, and no other", () => {
    const routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(routes.sort()).toEqual(
      [
        "post /predict",
        "post /predict/stream/",
        "post /predict/cancel/",
        "patch /predict/cancel/",
        "post /predict/async/",
        "get /predict/async/result/",
        "post /predict/async/result/",
        "get /flow",
        "get /upload_url",
        "get /download_s3_url",
        "post /upload_file",
        "get /openapi.json",
      ].sort(),
    );
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => one.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is OpenAPI 3.1.0 in version 1.0.0 at its own address", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { version: "1.0.0" },
      servers: [{ url: "http://localhost:8080/api/v1/o/m" }],
    });
  });

  test("takes the key in two ways, to cancel in one", () => {
    expect(document.components.securitySchemes).toMatchObject({
      "X-API-KEY": { type: "apiKey", in: "header", name: "X-API-KEY" },
      APIKeyHeader: { type: "apiKey", in: "header", name: "Authorization" },
    });
    for (const [path, item] of Object.entries(document.paths)) {
      for (const { security } of Object.values(item)) {
        const both = [{ "X-API-KEY": [] }, { APIKeyHeader: [] }];
        expect(security).toEqual(path === "/predict/cancel/" ? both.slice(0, 1) : both);
      }
    }
  });

  test("shows its input as the specification has it", () => {
    const input = document.components.schemas.DynamicInputModel;
    const images = ["image", ...Array.from({ length: 9 }, (_, i) => `image${i + 1}`)];
    const properties = input?.properties as Record<string, FieldSchema>;
    expect(Object.keys(properties).sort()).toEqual(
      ["prompt", ...images, "size", "watermark", "optimize_prompt_mode", "enable_safety_checker"].sort(),
    );
    expect(input?.required).toEqual(["prompt"]);
    expect(properties.size).toMatchObject({ type: ["string", "null"], default: "2k" });
    for (const image of images) {
      expect(properties[image]).toMatchObject({ type: ["string", "null"], format: "binary", default: null });
    }
    for (const path of ["/predict", "/predict/stream/", "/predict/async/", "/predict/cancel/"]) {
      const encoding = operation(document, path, "post").requestBody?.content["multipart/form-data"]?.encoding;
      expect(encoding).toEqual(Object.fromEntries(images.map((name) => [`i_${name}`, { contentType: "image/*" }])));
    }
  });

  test("takes a webhook when queued, with its default, and a user where there is one", () => {
    const { DynamicAsyncInputModel, DynamicStreamInputModel, DynamicInputModel } = document.components.schemas;
    expect(DynamicAsyncInputModel?.properties?.webhook).toMatchObject({
      type: ["string", "null"],
      default: '{"url":"","headers":{},"query_params":{}}',
    });
    expect(DynamicStreamInputModel?.properties).toHaveProperty("user");
    expect(DynamicStreamInputModel?.properties).not.toHaveProperty("webhook");
    expect(DynamicInputModel?.properties).not.toHaveProperty("user");
    expect(operation(document, "/predict/stream/", "post").parameters).toMatchObject([
      { name: "user-agent", in: "header", required: false },
    ]);
  });

  test("asks for the id of a result and for the address to sign", () => {
    for (const method of ["get", "post"]) {
      expect(operation(document, "/predict/async/result/", method).parameters).toMatchObject([
        { name: "request_id", in: "query", required: true },
        { name: "wait", in: "query", required: false },
      ]);
    }
    expect(operation(document, "/download_s3_url", "get").parameters).toMatchObject([
      { name: "s3_path_to_sign", in: "query", required: true },
    ]);
    expect(operation(document, "/upload_file", "post").requestBody?.required).toBe(true);
  });

  test.each([
    ["AsyncInference", ["prediction_id"]],
    ["InferenceResponses", ["inference_responses"]],
    ["InferenceResponse", ["infer_details", "response"]],
    ["InferDetails", ["status", "user_id", "request_id"]],
    ["StreamDetails", ["input_tokens", "output_tokens"]],
    ["PresignedUrl", ["url", "method"]],
    ["StreamUser", ["id"]],
    ["CancelInference", ["infer_id"]],
    ["UploadBody", ["file"]],
    ["HTTPValidationError", ["detail"]],
    ["Error", ["loc", "msg", "type", "url"]],
  ])("requires of %s what the specification requires", (name, required) => {
    expect(document.components.schemas[name]?.required).toEqual(required);
  });

  test("has queue metrics that are 0 by default", () => {
    const metrics = document.components.schemas.QueueSumMetrics;
    expect(metrics?.required).toBeUndefined();
    expect(Object.values(metrics?.properties ?? {})).toEqual([
      { type: "number", default: 0 },
      { type: "number", default: 0 },
      { type: "integer", default: 0 },
      { type: "integer", default: 0 },
      { type: "integer", default: 0 },
    ]);
  });
});

test("a text model marks its streamed field and refuses the synchronous route inside a 200", () => {
  const document = documentOf(textManifest);
  expect(document.components.schemas.DynamicOutputModel?.properties?.output).toMatchObject({ isStream: true });
  const answer = operation(document, "/predict", "post").responses["200"];
  expect(answer?.content["application/json"]?.schema.$ref).toBe("#/components/schemas/Refusal");
  expect(operation(document, "/predict", "post").requestBody?.content["multipart/form-data"]).not.toHaveProperty(
    "encoding",
  );
});
