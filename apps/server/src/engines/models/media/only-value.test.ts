import type { ObjectSchema } from "@gantry/wire";
import { expect, test } from "vitest";
import type { FileOutput, OutputValue } from "../driver.ts";
import { fillingOutput } from "./only-value.ts";

const text = { type: "string" };
const streamed = { ...text, isStream: true };
const file = { ...text, format: "binary" };
const picture: FileOutput = { kind: "file", contentType: "image/png", body: new Uint8Array(1) };

async function run(properties: ObjectSchema["properties"], made: Record<string, OutputValue>) {
  const fragments: string[] = [];
  const usage = { inputTokens: 1, outputTokens: 2 };
  const filling = fillingOutput(
    async ({ onFragment }) => {
      await onFragment("output", "a");
      return { output: made, usage };
    },
    { type: "object", properties },
  );
  const result = await filling({
    predictionId: "pred_1",
    input: {},
    signal: new AbortController().signal,
    onFragment: (field, piece) => void fragments.push(`${field}:${piece}`),
  });
  expect(result.usage).toEqual(usage);
  return { output: result.output, fragments };
}

test.each<[string, ObjectSchema["properties"], Record<string, OutputValue>, Record<string, OutputValue>]>([
  ["a text fills the only field", { answer: text }, { output: "t" }, { answer: "t" }],
  ["a text fills the field of its name", { note: text, output: text }, { output: "t" }, { output: "t" }],
  ["a text does not fill a file field", { cover: file, note: text }, { output: "t" }, { note: "t" }],
  ["a text without a field is left out", { cover: file }, { output: "t" }, {}],
  ["a file fills the only field", { canvas: file }, { image: picture }, { canvas: picture }],
  ["a file fills the only field, even a text field", { url: text }, { image: picture }, { url: picture }],
  ["a file fills a file field before others", { note: text, canvas: file }, { image: picture }, { canvas: picture }],
])("%s", async (_, properties, made, output) => {
  expect(await run(properties, made)).toEqual({ output, fragments: [] });
});

test("the streamed field gets the text and its fragments", async () => {
  const { output, fragments } = await run({ output: text, reply: streamed }, { output: "a" });
  expect([output, fragments]).toEqual([{ reply: "a" }, ["reply:a"]]);
});
