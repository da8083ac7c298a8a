import { describe, expect, it } from "vitest";
import { addressOf, inputInAddress, type LongTexts } from "./form-address.rules.ts";
import { initialValues, inputOf } from "./form-values.rules.ts";
import { fieldsOf } from "./input-form.rules.ts";
import { readInput } from "./kept-input.rules.ts";

const file = { type: "string", format: "binary", "x-media": "image" } as const;
const fields = fieldsOf({
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string", default: "A default" },
    image: file,
    image1: file,
    size: { type: "string", enum: ["2k", "4k"], default: "2k" },
    seed: { type: ["integer", "null"], default: null },
    safe: { type: "boolean", default: true },
    options: { type: "object" },
  },
});

function memory(): LongTexts {
  const texts: string[] = [];
  return { keep: (text) => String(texts.push(text) - 1), find: (id) => texts[Number(id)] };
}

const filled = {
  ...initialValues(fields),
  prompt: "A red gate",
  image: ["s3://gantry/a.png", "https://example.org/b.png"],
  size: '"4k"',
  seed: "7",
  safe: false,
  options: '{\n  "a": 1\n}',
};

describe("the input of an earlier prediction", () => {
  it("fills the form as it was sent", () => {
    expect(readInput(fields, inputOf(fields, filled))).toEqual({ values: filled, unknown: [], missingFiles: [] });
    expect(readInput(fields, {}).values).toEqual(initialValues(fields));
  });

  it("has stored files as addresses, and names those that were not stored", () => {
    const { values, missingFiles } = readInput(fields, {
      prompt: "x",
      image: { $stored: "s3://gantry/kept.png" },
      image1: { $inline: { name: "cat.png", content_type: "image/png", size: 1, sha256: "00" } },
    });
    expect(values.image).toEqual(["s3://gantry/kept.png"]);
    expect(missingFiles).toEqual(["cat.png"]);
  });

  it("may be of an older version of the model", () => {
    const { values, unknown } = readInput(fields, { prompt: 5, gone: 1, size: null, seed: { odd: true } });
    expect(unknown).toEqual(["gone"]);
    expect(values).toMatchObject({ prompt: "5", size: '"2k"', seed: '{"odd":true}' });
  });

  it("keeps unfinished JSON as it was typed", () => {
    expect(readInput(fields, { options: '{"a": ' }).values.options).toBe('{"a": ');
    expect(readInput(fields, { options: "word" }).values.options).toBe('"word"');
  });
});

describe("the form in the address", () => {
  it("comes back whole, except for local files", () => {
    const long = memory();
    const values = { ...filled, prompt: "p".repeat(5_000), image: [new File(["x"], "local.png"), "s3://gantry/a.png"] };
    const address = addressOf(fields, values, long);
    expect(JSON.stringify(address).length).toBeLessThan(300);
    const { values: read } = readInput(fields, inputInAddress(address ?? {}, long));
    expect(read).toEqual({ ...values, image: ["s3://gantry/a.png"] });
  });

  it("is not there until something changes", () => {
    expect(addressOf(fields, initialValues(fields), memory())).toBeUndefined();
  });

  it("leaves out texts that the tab no longer has", () => {
    const address = addressOf(fields, { ...filled, prompt: "p".repeat(5_000) }, memory());
    const { values } = readInput(fields, inputInAddress(address ?? {}, memory()));
    expect(values).toMatchObject({ prompt: "A default", seed: "7" });
  });
});
