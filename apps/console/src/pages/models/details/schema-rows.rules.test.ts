import { expect, test } from "vitest";
import { groupedRows } from "./schema-rows.rules.ts";

const file = (description: string) => ({ type: "string", format: "binary", "x-media": "image", description });
const namesOf = (properties: object, required: string[] = []) =>
  groupedRows({ type: "object", properties, required }).map(({ name }) => name);

test("numbered fields of the same type share a row", () => {
  const properties = {
    prompt: { type: "string" },
    image: file("Reference"),
    image1: file("Reference 1"),
    image2: file("Reference 2"),
    size: { type: "string", enum: ["2k"] },
  };
  expect(namesOf(properties)).toEqual(["prompt", "image, image1 – image2", "size"]);
  expect(namesOf({ ref_1: file("a"), ref_2: file("b"), ref_3: file("c") })).toEqual(["ref_1 – ref_3"]);
  expect(namesOf({ image: file("a"), image1: file("b") })).toEqual(["image, image1"]);
});

test("fields that differ keep their rows", () => {
  expect(namesOf({ width: { type: "integer" }, width2: { type: "string" } })).toEqual(["width", "width2"]);
  expect(namesOf({ a1: { type: "string" }, b1: { type: "string" } })).toEqual(["a1", "b1"]);
  expect(namesOf({ image: file("a"), image1: file("b") }, ["image"])).toEqual(["image", "image1"]);
});
