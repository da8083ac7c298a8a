import { describe, expect, test } from "vitest";
import { imageManifest } from "../../engines/models/builtin/image-manifest.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { inputSchemaOf, priceOf, takesObject } from "./describe-tool.rules.ts";
import { refusalAnswer } from "./refusal.ts";
import { agentToolName, modelToolName, readToolName } from "./tool-names.rules.ts";

test.each([
  [{}, true],
  [{ type: ["object", "null"] }, true],
  [{ anyOf: [{ type: "string" }, { oneOf: [{ type: "object" }, { type: "null" }] }] }, true],
  [{ $ref: "#/$defs/a" }, true],
  [{ enum: ["a", {}] }, true],
  [{ type: "string" }, false],
  [{ anyOf: [{ type: "string" }, { type: "number" }] }, false],
  [{ allOf: [{ type: "object" }, { type: "array" }] }, false],
  [{ type: "object", oneOf: [{ const: 1 }, false] }, false],
  [{ enum: ["a", 1] }, false],
])("an object can satisfy %j: %s", (schema, may) => {
  expect(takesObject(schema)).toBe(may);
});

describe("the name of a tool", () => {
  const owner = `o${"w-".repeat(19)}`;
  const models = [
    ["gantry", "text"],
    ["a-b", "c_d-e"],
    ["acme", "flux-1.1_pro"],
    ["acme", "0"],
    ["acme", "a_"],
    [owner, "x"],
    ["acme", "x".repeat(63)],
    [owner, "y".repeat(63)],
    [owner, "1.".repeat(31)],
    [owner, `${"1.".repeat(30)}2`],
  ] as const;

  test.each(models)("of %s/%s is valid for all clients and can be read back", (owner, name) => {
    const tool = modelToolName({ owner, name });
    expect(tool).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const address = readToolName(tool);
    if (address?.kind === "cut-model") {
      expect(tool).toHaveLength(64);
      expect(address.owner).toBe(owner);
      expect(address.prefix).not.toBe("");
      expect(name.startsWith(address.prefix)).toBe(true);
    } else expect(address).toEqual({ kind: "model", owner, name });
  });

  test("is unique for each model", () => {
    const alike = ["a.b", "a_b", "a-b", "a..b", "a-dot-b"].map((name) => ["acme", name] as const);
    const names = [...models, ...alike].map(([owner, name]) => modelToolName({ owner, name }));
    expect(new Set(names).size).toBe(names.length);
  });

  test("of an agent contains its slug", () => {
    expect(readToolName(agentToolName("my-agent-2"))).toEqual({ kind: "agent", slug: "my-agent-2" });
  });

  test("of an action is unchanged; other names are unknown", () => {
    expect(readToolName("idp_users_list")).toEqual({ kind: "action", name: "idp_users_list" });
    for (const name of ["", "model_", "model_a", "model_a_", "model__b", "Model_a_b"]) {
      expect(readToolName(name)).toBeUndefined();
    }
  });
});

describe("the arguments of a model", () => {
  test("have addresses for files and no null", () => {
    const { required, ...schema } = inputSchemaOf(imageManifest);
    const properties = schema.properties as Record<string, Record<string, unknown>>;
    expect(required).toEqual(["prompt"]);
    expect(Object.keys(properties)).toEqual(Object.keys(imageManifest.input.properties));
    expect(properties.size).toMatchObject({ type: "string", default: "2k", enum: expect.arrayContaining(["2k"]) });
    expect(properties.image).toEqual({
      type: "string",
      title: imageManifest.input.properties.image?.title,
      description: expect.stringContaining("data: URI"),
    });
    expect(JSON.stringify(properties)).not.toMatch(/null|binary|x-media|isStream/);
  });

  test("keep null in required fields and drop own extensions", () => {
    const field = { type: ["integer", "null"], default: null, enum: [1, null], "x-own": true };
    const schema = inputSchemaOf({
      ...imageManifest,
      input: { type: "object", required: ["must"], properties: { must: field, may: field } },
    });
    expect(schema.properties).toEqual({
      must: { type: ["integer", "null"], default: null, enum: [1, null] },
      may: { type: "integer", enum: [1] },
    });
  });
});

test("prices are described in words", () => {
  expect(priceOf({})).toBe("Free of charge.");
  expect(priceOf({ per_request: 0 })).toBe("Free of charge.");
  expect(priceOf({ per_million_output_tokens: 0.4, per_million_input_tokens: 0.1, per_second: 0.000001 })).toBe(
    "Price in US dollars: 0.000001 a second of running, 0.1 a million input tokens, 0.4 a million output tokens.",
  );
});

describe("a refusal", () => {
  const textOf = (fault: Fault) => refusalAnswer(fault).content.map((part) => ("text" in part ? part.text : part.type));

  test("names the path of the argument", () => {
    const issue = { type: "string_type", loc: ["body", "tags", 0], msg: "Input should be text" } as const;
    expect(textOf(new Fault([issue, { ...issue, loc: ["body"] }]))).toEqual([
      "tags.0: Input should be text\nInput should be text",
    ]);
  });

  test("says when to try again", () => {
    const limited = fault("rate_limit", "Too many", { retryAfterSeconds: 0.2 });
    expect(textOf(limited)).toEqual(["Too many\nTry again in 1 second."]);
    expect(refusalAnswer(limited).meta).toEqual({
      "gantry/error": { type: "rate_limit", status: 429, retryable: true, retry_after: 1 },
    });
    expect(textOf(fault("rate_limit", "Too many", { retryAfterSeconds: 2 }))[0]).toContain("in 2 seconds");
    expect(textOf(fault("service_unavailable", "Away"))[0]).toContain("may succeed");
  });

  test("lists at most twenty issues", () => {
    const issue = { type: "extra_forbidden", loc: ["body", "x"], msg: "No" } as const;
    const [text = ""] = textOf(new Fault([issue, ...Array.from({ length: 999 }, () => issue)]));
    expect(text.split("\n")).toHaveLength(21);
    expect(text).toContain("and 980 more");
  });
});
