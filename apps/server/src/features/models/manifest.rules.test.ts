import { describe, expect, test } from "vitest";
import { checkManifest, checkPatched, patched, reseeded } from "./manifest.rules.ts";

const cog = { type: "cog", url: "https://cog.example" };
const image = { type: "string", format: "binary", "x-media": "image" };

function body(change: object = {}): Record<string, unknown> {
  return {
    kind: "image",
    input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    output: { type: "object", properties: { image } },
    backend: cog,
    ...change,
  };
}

function faults(value: unknown): string[] {
  return checkManifest("m", value).issues.map((issue) => `${issue.loc.join(".")} ${issue.type}`);
}

const inputWith = (field: unknown, name = "x") => body({ input: { type: "object", properties: { [name]: field } } });
const outputWith = (field: unknown) => body({ output: { type: "object", properties: { x: field } } });

test("omitted fields have defaults, and the title is the name", () => {
  const { manifest, issues } = checkManifest("my-model", body());
  expect(issues).toEqual([]);
  expect(manifest).toMatchObject({
    title: "my-model",
    description: "",
    visibility: "private",
    capacity: 1,
    timeout_seconds: 300,
    max_queue_seconds: 86_400,
    pricing: {},
  });
});

test("the fields keep their order and their extensions", () => {
  const properties = { zebra: { type: "string", "x-order": 1 }, a: { type: ["integer", "null"], default: null } };
  const { manifest } = checkManifest("m", body({ input: { type: "object", properties } }));
  expect(JSON.stringify(manifest?.input.properties)).toBe(
    '{"zebra":{"type":"string","x-order":1},"a":{"type":["integer","null"],"default":null}}',
  );
});

test("all issues are reported at once with their paths", () => {
  expect(
    faults({
      title: 7,
      kind: "sound",
      visibility: "secret",
      capacity: -1,
      timeout_seconds: "soon",
      max_queue_seconds: 0,
      context_window: 10,
      pricing: { per_request: -1, per_second: 0.0000001, per_token: 1 },
      input: {
        type: "array",
        properties: {
          user: { type: "string" },
          i_image: { type: "string" },
          size: { type: "string", enum: ["a", 3], default: "c" },
          many: { type: "integer", minimum: 5, maximum: 1, default: 9, pattern: "(a+)+$" },
          untyped: {},
          file: { type: "string", format: "binary", default: "x" },
        },
        required: ["prompt"],
      },
      output: { type: "object", properties: {} },
      backend: { type: "openai-chat", url: "ftp://x", header: "y" },
      nonsense: true,
    }).sort(),
  ).toEqual(
    [
      "body.title string_type",
      "body.kind one_of",
      "body.visibility one_of",
      "body.capacity greater_than_equal",
      "body.timeout_seconds float_parsing",
      "body.max_queue_seconds greater_than_equal",
      "body.context_window value_error",
      "body.pricing.per_request greater_than_equal",
      "body.pricing.per_second value_error",
      "body.pricing.per_token extra_forbidden",
      "body.input.type one_of",
      "body.input.properties.user value_error",
      "body.input.properties.i_image value_error",
      "body.input.properties.size.enum.1 value_error",
      "body.input.properties.size.default value_error",
      "body.input.properties.many.minimum value_error",
      "body.input.properties.many.default value_error",
      "body.input.properties.many.pattern value_error",
      "body.input.properties.untyped.type missing",
      "body.input.properties.file.x-media missing",
      "body.input.properties.file.default value_error",
      "body.input.properties.prompt missing",
      "body.input.required.0 value_error",
      "body.output.properties value_error",
      "body.backend.url url_parsing",
      "body.backend.model missing",
      "body.backend.header extra_forbidden",
      "body.nonsense extra_forbidden",
    ].sort(),
  );
});

test("an empty body lacks the fields without a default", () => {
  expect(faults({})).toEqual([
    "body.kind missing",
    "body.input missing",
    "body.output missing",
    "body.backend missing",
  ]);
});

test.each([undefined, null, [], "text", 3])("%j is not a manifest", (value) => {
  expect(faults(value)).toEqual(["body json_invalid"]);
});

describe("a field", () => {
  test.each<[string, object, string[]]>([
    ["a nullable with an enum and default null", { type: ["string", "null"], enum: ["a"], default: null }, []],
    ["a list", { type: "array", items: { type: "integer", minimum: 1 }, maxItems: 2, default: [1, 2] }, []],
    [
      "an object",
      { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
      [],
    ],
    ["a video with a limit", { type: "string", format: "binary", "x-media": "video", "x-max-duration": 30 }, []],
    ["own formats", { ...image, "x-formats": [".gif", ".png"] }, []],
    ["two types", { type: ["string", "integer"] }, ["type value_error"]],
    ["null alone", { type: "null" }, ["type value_error"]],
    ["an unknown type", { type: "text" }, ["type one_of"]],
    ["a typo", { type: "string", maxLenght: 3 }, ["maxLenght extra_forbidden"]],
    ["a reference", { type: "string", $ref: "#/x" }, ["$ref value_error"]],
    ["a combinator", { type: "string", anyOf: [] }, ["anyOf extra_forbidden"]],
    ["a bound of another type", { type: "string", minimum: 3 }, ["minimum value_error"]],
    ["an invalid bound", { type: "string", maxLength: -1 }, ["maxLength greater_than_equal"]],
    ["an empty enum", { type: "string", enum: [] }, ["enum sequence_too_short"]],
    ["an enum with a value twice", { type: "string", enum: ["a", "b", "a"] }, ["enum.2 value_error"]],
    ["a wrong default", { type: "boolean", default: "yes" }, ["default value_error"]],
    ["null as the default of what is not nullable", { type: "string", default: null }, ["default value_error"]],
    ["a default too long", { type: "string", maxLength: 2, default: "abc" }, ["default value_error"]],
    ["a default as long as it may be", { type: "string", maxLength: 1, default: "😀" }, []],
    ["a default too short", { type: "string", minLength: 2, default: "😀" }, ["default value_error"]],
    ["a default that is not a URI", { type: "string", format: "uri", default: "no uri" }, ["default value_error"]],
    [
      "a default that is not a date-time",
      { type: "string", format: "date-time", default: "x" },
      ["default value_error"],
    ],
    ["a default that is not exact", { type: "integer", default: 2 ** 60 }, ["default value_error"]],
    ["a value that is not a URI", { type: "string", format: "uri", enum: ["http://a", "b"] }, ["enum.1 value_error"]],
    [
      "a default that names its parts in another order",
      { type: "object", enum: [{ a: 1, b: 2 }], default: { b: 2, a: 1 } },
      [],
    ],
    [
      "a default that lacks a part and has another",
      { type: "object", properties: { a: {} }, required: ["a"], additionalProperties: false, default: { b: 1 } },
      ["default value_error"],
    ],
    [
      "a list with a wrong entry",
      { type: "array", items: { type: "integer" }, default: [1.5] },
      ["default value_error"],
    ],
    ["a required part that does not exist", { type: "object", required: ["a"] }, ["required.0 value_error"]],
    [
      "a file inside a list of lists",
      { type: "array", items: { type: "array", items: image } },
      ["items.items.format value_error"],
    ],
    ["a file inside an object", { type: "object", properties: { a: image } }, ["properties.a.format value_error"]],
    ["a list of files with a default", { type: "array", items: image, default: [] }, ["default value_error"]],
    ["too long a list of files", { type: "array", items: image, maxItems: 33 }, ["maxItems value_error"]],
    [
      "a list of files that is never long enough",
      { type: "array", items: image, minItems: 17 },
      ["minItems value_error"],
    ],
    ["a list of unknown media", { type: "array", items: { ...image, "x-media": "x" } }, ["items.x-media one_of"]],
    ["a file of an unknown medium", { ...image, "x-media": "picture" }, ["x-media one_of"]],
    ["a file that is not a string", { ...image, type: "integer" }, ["format value_error"]],
    ["a duration of an image", { ...image, "x-max-duration": 3 }, ["x-max-duration value_error"]],
    ["formats without a file", { type: "string", "x-formats": [".png"] }, ["x-formats value_error"]],
    ["a format without a dot", { ...image, "x-formats": ["png"] }, ["x-formats.0 value_error"]],
    ["an unknown format", { type: "string", format: "email" }, ["format one_of"]],
    ["a streamed input", { type: "string", isStream: true }, ["isStream value_error"]],
  ])("%s", (_, field, expected) => {
    expect(faults(inputWith(field))).toEqual(expected.map((one) => `body.input.properties.x.${one}`));
  });

  test.each(["user", "webhook", "i_image", "9lives", "a b", "", "constructor", "toString", "ä", "x".repeat(65)])(
    "may not be named %j",
    (name) => {
      expect(faults(inputWith({ type: "string" }, name))).toEqual([`body.input.properties.${name} value_error`]);
    },
  );

  test("of an output may use reserved request names", () => {
    const output = { type: "object", properties: { user: image, i_image: image } };
    expect(faults(body({ output }))).toEqual([]);
  });

  test("is streamed only as a plain string", () => {
    expect(faults(outputWith({ type: "string", isStream: true }))).toEqual([]);
    expect(faults(outputWith({ type: "integer", isStream: true }))).toEqual([
      "body.output.properties.x.isStream value_error",
    ]);
    expect(faults(outputWith({ ...image, isStream: true }))).toEqual(["body.output.properties.x.isStream value_error"]);
  });
});

test("a model streams one field at most", () => {
  const streamed = { type: "string", isStream: true };
  const properties = { a: streamed, b: { ...streamed, isStream: false }, c: streamed };
  expect(faults(body({ output: { type: "object", properties } }))).toEqual([
    "body.output.properties.c.isStream value_error",
  ]);
});

test("a text model needs a streamed output, and only a text model has a context window", () => {
  const streamed = { type: "object", properties: { output: { type: "string", isStream: true } } };
  expect(faults(body({ kind: "text" }))).toEqual(["body.output value_error"]);
  expect(faults(body({ kind: "text", output: streamed, context_window: 1, model_size_in_billions: 0.5 }))).toEqual([]);
  expect(faults(body({ model_size_in_billions: 1 }))).toEqual(["body.model_size_in_billions value_error"]);
});

test.each<[object, string[]]>([
  [{ type: "anthropic", model: "m" }, []],
  [{ type: "google", model: "m", url: "http://127.0.0.1:9/v1", secret: "my-key" }, []],
  [{ type: "cog", url: "http://cog:5000" }, []],
  [{ type: "gantry", url: "https://g.example", model: "a/b" }, []],
  [{ type: "builtin", model: "image" }, []],
  [{ type: "builtin", model: "image", url: "http://x", secret: "s" }, ["url value_error", "secret value_error"]],
  [{ type: "builtin" }, ["model missing"]],
  [{ type: "gantry", url: "https://g.example", model: "b" }, ["model value_error"]],
  [{ type: "openai-images" }, ["url missing", "model missing"]],
  [{ type: "ark-images", url: "https://u:p@x", model: "m" }, ["url url_parsing"]],
  [{ type: "ark-images", url: "https://x?key=1", model: "m" }, ["url url_parsing"]],
  [{ type: "ark-images", url: "https://x", model: "m", secret: "../x" }, ["secret value_error"]],
  [{ type: "shell" }, ["type one_of"]],
  [{}, ["type missing"]],
])("backend %j", (backend, expected) => {
  expect(faults(body({ backend }))).toEqual(expected.map((one) => `body.backend.${one}`));
});

test("a value that is not an integer is reported as such", () => {
  for (const capacity of ["x", "5", 1.5, true, null]) {
    expect(faults(body({ capacity, timeout_seconds: "x" })), String(capacity)).toEqual([
      "body.capacity int_parsing",
      "body.timeout_seconds float_parsing",
    ]);
  }
  expect(faults(inputWith({ type: "string", maxLength: "9" }))).toEqual([
    "body.input.properties.x.maxLength int_parsing",
  ]);
});

test("prices have six decimals at most, exactly", () => {
  for (const price of [0, 0.03, 0.1, 0.000001, 0.0375, 3, 15, 123456.654321]) {
    expect(faults(body({ pricing: { per_million_input_tokens: price } }))).toEqual([]);
  }
  expect(faults(body({ pricing: { per_output: 0.0000015 } }))).toEqual(["body.pricing.per_output value_error"]);
  expect(faults(body({ pricing: { per_output: 1e7 } }))).toEqual(["body.pricing.per_output less_than_equal"]);
});

describe("bounds", () => {
  test("a hundred fields", () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: "string" }]));
    expect(faults(body({ input: { type: "object", properties: fields(100) } }))).toEqual([]);
    expect(faults(body({ input: { type: "object", properties: fields(101) } }))).toEqual([
      "body.input.properties sequence_too_long",
    ]);
  });

  test("64 KB", () => {
    expect(faults(inputWith({ type: "string", default: "x".repeat(65_536) }))).toEqual(["body sequence_too_long"]);
  });

  test("depth, also in unknown fields", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    const issues = checkManifest("m", inputWith({ type: "string", "x-deep": deep })).issues;
    expect(issues).toMatchObject([{ type: "json_invalid", msg: "Nested more than 32 levels deep" }]);
  });

  test("text that PostgreSQL cannot store", () => {
    expect(faults(body({ description: "a\0b" }))).toEqual(["body.description value_error"]);
    expect(faults(inputWith({ type: "string", "x-note": "\ud800" }))).toEqual([
      "body.input.properties.x.x-note value_error",
    ]);
    expect(faults(inputWith({ type: "string", "x-note": JSON.parse("1e999") }))).toEqual([
      "body.input.properties.x.x-note float_parsing",
    ]);
  });
});

test("a patch replaces whole fields and null removes them", () => {
  const { manifest } = checkManifest("m", body({ pricing: { per_request: 1, per_second: 2 }, title: "Old" }));
  if (!manifest) throw new Error("refused");
  const result = patched(manifest, { pricing: { per_output: 3 }, title: null });
  expect(result.pricing).toEqual({ per_output: 3 });
  expect(result).not.toHaveProperty("title");
  expect(checkManifest("m", result).manifest?.title).toBe("m");
});

test("a new shipped manifest changes only unpatched fields", () => {
  const shipped = (change: object) => {
    const { manifest } = checkManifest("m", body(change));
    if (!manifest) throw new Error("refused");
    return manifest;
  };
  const equal = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);
  const before = shipped({ pricing: { per_request: 1 }, capacity: 4 });
  const patchedByOperator = { ...before, pricing: { per_request: 2 } };
  const now = shipped({ pricing: { per_request: 5 }, capacity: 8, description: "new" });
  expect(reseeded(patchedByOperator, before, now, equal)).toEqual({ ...now, pricing: { per_request: 2 } });
});

describe("a model of kind embedding", () => {
  const backend = { type: "openai-embeddings", url: "https://up.example/v1", model: "m" };
  const embedding = (change: object = {}) => ({ kind: "embedding", backend, ...change });

  test("needs neither input nor output", () => {
    const { manifest } = checkManifest("m", embedding());
    expect(manifest?.input).toMatchObject({
      required: ["input"],
      properties: { input: { type: "array", maxItems: 2048 } },
    });
    expect(manifest?.output).toMatchObject({ required: ["embeddings"], properties: { embeddings: { type: "array" } } });
  });

  test("keeps the fields that its owner wrote", () => {
    const input = { type: "object", properties: { input: { type: "array", maxItems: 32 } }, required: ["input"] };
    expect(checkManifest("m", embedding({ input })).manifest?.input).toEqual(input);
  });

  test.each([
    [{ input: { type: "object", properties: {} } }, "body.input.properties.input value_error"],
    [
      { input: { type: "object", properties: { input: { type: "array" } } } },
      "body.input.properties.input value_error",
    ],
    [
      { input: { type: "object", properties: { input: { type: "string" } }, required: ["input"] } },
      "body.input.properties.input value_error",
    ],
    [
      { output: { type: "object", properties: { vectors: { type: "array" } }, required: ["vectors"] } },
      "body.output.properties.embeddings value_error",
    ],
    [{ backend: { ...backend, type: "ark-images" } }, "body.backend.type value_error"],
    [body({ kind: "other", backend }), "body.kind value_error"],
    [{ context_window: 8192 }, "body.context_window value_error"],
  ])("is refused with %j", (change, issue) => {
    expect(faults(embedding(change))).toEqual([issue]);
  });

  test("gets the default fields again when they are removed", () => {
    const own = {
      type: "object",
      properties: { input: { type: "array" }, mode: { type: "string" } },
      required: ["input"],
    };
    const stored = checkManifest("m", embedding({ input: own })).manifest;
    if (!stored) throw new Error("invalid");
    expect(checkPatched("m", stored, { input: null }).manifest?.input.properties).toHaveProperty("dimensions");
  });
});
