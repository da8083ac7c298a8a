import type { FieldSchema } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { fieldsOf, folded, mostFilesOf } from "./input-form.rules.ts";

const form = (properties: Record<string, FieldSchema>, required: string[] = []) =>
  fieldsOf({ type: "object", properties, required });
const controlOf = (schema: FieldSchema, required: string[] = []) => form({ it: schema }, required)[0]?.control;

describe("input form", () => {
  it("lists required fields first, with their titles", () => {
    const fields = form({ size: { type: "string", title: "Size" }, prompt: { type: "string" } }, ["prompt"]);
    expect(fields.map(({ label, isRequired }) => [label, isRequired])).toEqual([
      ["prompt", true],
      ["Size", false],
    ]);
  });

  it("chooses a control by type", () => {
    expect(controlOf({ type: "string" })).toEqual({ kind: "text", isLong: true });
    expect(controlOf({ type: "string", maxLength: 60 })).toEqual({ kind: "text", isLong: false });
    expect(controlOf({ type: ["string", "null"], format: "uri" })).toEqual({ kind: "text", isLong: false });
    expect(controlOf({ type: ["integer", "null"], minimum: 1, maximum: 9 })).toEqual({
      kind: "number",
      isWhole: true,
      min: 1,
      max: 9,
    });
    expect(controlOf({ type: "array", items: { type: "string" } })).toEqual({ kind: "json" });
    expect(controlOf({ type: "object" })).toEqual({ kind: "json" });
  });

  it("shows a list of files as one control", () => {
    const items: FieldSchema = { type: "string", format: "binary", "x-media": "image" };
    const photos = { type: ["array", "null"], items, maxItems: 3 };
    const list = { kind: "files", slots: ["it"], accept: "image/*", isList: true };
    expect(controlOf(photos)).toEqual({ ...list, max: 3 });
    expect(controlOf({ type: "array", items })).toEqual({ ...list, max: 16 });
    expect([photos, { type: "array", items }, items, { type: "array" }].map(mostFilesOf)).toEqual([3, 16, 1, 0]);
  });

  it("shows a boolean without a default as a choice", () => {
    expect(controlOf({ type: "boolean", default: false })).toEqual({ kind: "switch" });
    expect(controlOf({ type: "boolean" }, ["it"])).toEqual({ kind: "switch" });
    expect(controlOf({ type: ["boolean", "null"], default: null })?.kind).toBe("choice");
  });

  it("offers the values of an enum", () => {
    expect(controlOf({ type: ["integer", "null"], enum: [1, 2, null] })).toEqual({
      kind: "choice",
      options: [
        { value: "1", label: "1" },
        { value: "2", label: "2" },
      ],
    });
    expect(controlOf({ type: "string", enum: ["fast"] })).toEqual({
      kind: "choice",
      options: [{ value: '"fast"', label: "fast" }],
    });
  });

  it("combines numbered files of one media type", () => {
    const image: FieldSchema = { type: ["string", "null"], format: "binary", "x-media": "image" };
    const fields = form({ image, image1: image, image2: image, mask: image, clip1: image });
    expect(fields.map(({ control }) => control.kind === "files" && control.slots)).toEqual([
      ["image", "image1", "image2"],
      ["mask"],
      ["clip1"],
    ]);
    expect(fields[0]?.control).toMatchObject({ accept: "image/*" });
  });

  it("folds optional fields if there are many", () => {
    const many = form(Object.fromEntries([..."abcdefg"].map((name) => [name, { type: "string" }])), ["g"]);
    expect(folded(many).shown.map(({ name }) => name)).toEqual(["g", "a", "b", "c"]);
    expect(folded(many).more.map(({ name }) => name)).toEqual(["d", "e", "f"]);
    expect(folded(many.slice(0, 5)).more).toEqual([]);
  });
});
