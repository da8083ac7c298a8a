import { sizes } from "@gantry/painter/options";
import type { FieldSchema, ObjectSchema } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import { chooseSize } from "./images-size.rules.ts";

const fields = (properties: Record<string, FieldSchema>): ObjectSchema => ({ type: "object", properties });
const listing = (listed: string[], more: FieldSchema = {}) =>
  fields({ size: { type: ["string", "null"], enum: listed, ...more } });
const painter = listing(Object.keys(sizes), { default: "2k" });

describe("the size of an image", () => {
  test.each([undefined, null, "", "auto"])("%j is the model's default", (asked) => {
    expect(chooseSize(painter, asked)).toEqual({ values: {} });
  });

  test.each([
    ["1280x720", "1280x720"],
    ["2K", "2k"],
  ])("%s is listed", (asked, size) => {
    expect(chooseSize(painter, asked)).toEqual({ values: { size } });
  });

  test.each([
    ["1024x1024", "1536x1536"],
    ["4096x4096", "2k"],
    ["1536x1024", "2496x1664"],
    ["1024x1536", "1664x2496"],
    ["1792x1024", "1280x720"],
    ["3840x2160", "2560x1440"],
    ["512*2048", "720x1280"],
    ["9:16", "720x1280"],
    ["1:1", "2k"],
  ])("%s becomes the nearest ratio, then the nearest area: %s", (asked, size) => {
    expect(chooseSize(painter, asked)).toEqual({ values: { size }, replaced: size });
  });

  test("every form of a listed size is understood", () => {
    expect(chooseSize(listing(["1:1", "16:9", "9:16"]), "1792x1024").values).toEqual({ size: "16:9" });
    expect(chooseSize(listing(["1K", "2K", "4K"]), "2048x2048").values).toEqual({ size: "2K" });
    expect(chooseSize(listing(["unusual", "512×512"]), "1024x1024").values).toEqual({ size: "512×512" });
  });

  test("a resolution and an aspect ratio are chosen together", () => {
    const two = fields({
      size: { type: "string", enum: ["1K", "2K"] },
      aspect_ratio: { type: "string", enum: ["1:1", "3:2", "2:3"] },
    });
    expect(chooseSize(two, "2016x1344")).toEqual({ values: { size: "2K", aspect_ratio: "3:2" }, replaced: "2K, 3:2" });
  });

  test("a model without a list gets the size as it is", () => {
    expect(chooseSize(fields({ size: { type: "string" } }), "640x480")).toEqual({ values: { size: "640x480" } });
  });

  test("a model with width and height gets both, within its limits", () => {
    const sides = fields({ width: { type: "integer", maximum: 1024 }, height: { type: ["integer", "null"] } });
    expect(chooseSize(sides, "1024x768")).toEqual({ values: { width: 1024, height: 768 } });
    expect(chooseSize(sides, "1536x1024")).toEqual({ values: { width: 1024, height: 1024 }, replaced: "1024x1024" });
  });

  test("a model without any of these inputs has one size", () => {
    expect(chooseSize(fields({ prompt: { type: "string" } }), "1024x1024")).toEqual({ values: {} });
  });

  test.each(["huge", "0x10", "1024x", 1024, "99999999x1"])("%j is not a size", (asked) => {
    expect(() => chooseSize(painter, asked)).toThrow(Fault);
    expect(() => chooseSize(fields({}), asked)).toThrow("The size must be auto, or width x height");
  });

  test("sizes with names of their own must be given by name", () => {
    expect(chooseSize(listing(["small", "large"]), "Large").values).toEqual({ size: "large" });
    expect(() => chooseSize(listing(["small", "large"]), "1024x1024")).toThrow("Sizes of this model: small, large.");
  });
});
