import { type FieldSchema, GantryError } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { initialValues, inputOf, inputWithBlanks, problemsIn, problemsOf } from "./form-values.rules.ts";
import { fieldsOf } from "./input-form.rules.ts";

const image: FieldSchema = { type: ["string", "null"], format: "binary", "x-media": "image" };
const fields = fieldsOf({
  type: "object",
  properties: {
    prompt: { type: "string", default: "a ship" },
    size: { type: ["string", "null"], enum: ["2k", "4k"], default: "2k" },
    count: { type: "integer", default: 3 },
    fast: { type: "boolean", default: true },
    style: { type: "string", default: "plain" },
    options: { type: "object" },
    image,
    image1: image,
  },
  required: ["prompt"],
});
const start = initialValues(fields);

describe("sent input", () => {
  it("starts with defaults and sends only required ones", () => {
    expect(start).toMatchObject({ prompt: "a ship", size: '"2k"', count: "3", fast: true, options: "", image: [] });
    expect(inputOf(fields, start)).toEqual({ prompt: "a ship" });
  });

  it("sends changed values with their type", () => {
    const changed = { ...start, size: '"4k"', count: "5", fast: false, options: '{"a": [1]}' };
    expect(inputOf(fields, changed)).toEqual({
      prompt: "a ship",
      size: "4k",
      count: 5,
      fast: false,
      options: { a: [1] },
    });
  });

  it("sends a list of files under one name", () => {
    const photos = { type: "array", items: { type: "string", format: "binary", "x-media": "image" } };
    const listed = fieldsOf({ type: "object", properties: { photos }, required: ["photos"] });
    const chosen = [new File(["x"], "a.png"), "https://host/b.png"];
    expect(inputOf(listed, { photos: chosen })).toEqual({ photos: chosen });
    expect(inputOf(listed, { photos: [] })).toEqual({});
    expect(problemsOf(listed, { photos: [] })).toEqual({ photos: "This field is required" });
  });

  it("leaves out emptied fields, except a string that has a default", () => {
    expect(inputOf(fields, { ...start, count: "", size: "", style: "" })).toEqual({ prompt: "a ship", style: "" });
  });

  it("marks missing required fields in an example", () => {
    expect(inputWithBlanks(fields, { ...start, prompt: "", fast: false })).toEqual({ prompt: "…", fast: false });
    expect(inputWithBlanks(fields, start)).toEqual({ prompt: "a ship" });
  });

  it("assigns files to slots in order", () => {
    const files = ["https://example.com/a.png", "s3://b/c.png"];
    expect(inputOf(fields, { ...start, image: files })).toMatchObject({ image: files[0], image1: files[1] });
  });
});

describe("problems of a form", () => {
  it("include empty required fields and invalid JSON", () => {
    expect(problemsOf(fields, { ...start, prompt: " ", options: "{" })).toEqual({
      prompt: "This field is required",
      options: "Invalid JSON",
    });
    expect(problemsOf(fields, start)).toEqual({});
  });

  const refusal = (...locs: (string | number)[][]) =>
    new GantryError({
      status: 422,
      type: "one_of",
      message: "wrong",
      retryable: false,
      requestId: undefined,
      body: undefined,
      issues: locs.map((loc) => ({ loc, message: "Wrong", type: "one_of" })),
    });

  it("include errors of the API at their fields, also for slots of a file list", () => {
    expect(problemsIn(refusal(["body", "size"], ["body", "i_image1"], ["body", "options", "a", 0]), fields)).toEqual({
      size: "Wrong",
      image: "Wrong",
      options: "a.0: Wrong",
    });
  });

  it("are undefined if an error names no field", () => {
    expect(problemsIn(refusal(["body", "size"], ["body"]), fields)).toBeUndefined();
    expect(problemsIn(new Error("no network"), fields)).toBeUndefined();
  });
});
