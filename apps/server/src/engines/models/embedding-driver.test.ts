import { describe, expect, it } from "vitest";
import type { ModelCall, ModelResult } from "./driver.ts";
import { embedByRunning } from "./embedding-driver.ts";
import { callWith, faultOf } from "./media/backend.contract.ts";
import { countTokens } from "./token-count.ts";

describe("a driver that knows predictions only", () => {
  const calls: ModelCall[] = [];
  const driver = (result: ModelResult) =>
    embedByRunning({
      run: async (call) => {
        calls.push(call);
        return result;
      },
    });
  const signal = new AbortController().signal;

  it("embeds by a prediction, whose tokens are counted", async () => {
    const two = driver({
      output: {
        embeddings: [
          [1, 2],
          [3, 0.5],
        ],
      },
    });
    const result = await two.embed({ predictionId: "pred_1", texts: ["a boat", "b"], dimensions: 2, signal });
    expect(result.vectors).toEqual([new Float32Array([1, 2]), new Float32Array([3, 0.5])]);
    expect(result.usage).toEqual({ inputTokens: await countTokens("a boat\nb"), outputTokens: 0, estimated: true });
    expect(calls.at(-1)).toMatchObject({ predictionId: "pred_1", input: { input: ["a boat", "b"], dimensions: 2 } });
  });

  it("never counts vectors as output", async () => {
    const output = { embeddings: [[1, 2]] };
    const counted = await driver({ output }).run(callWith({ input: ["a boat"] }));
    expect(counted).toEqual({ output, usage: { inputTokens: 2, outputTokens: 0, estimated: true } });
    const usage = { inputTokens: 7, outputTokens: 0 };
    expect(await driver({ output, usage }).run(callWith({ input: ["a boat"] }))).toEqual({ output, usage });
  });

  it("fails if the vectors do not fit the texts", async () => {
    const one = driver({ output: { embeddings: [[1, 2]] } });
    const embedding = one.embed({ predictionId: "pred_1", texts: ["a", "b"], signal });
    expect(await faultOf(embedding)).toMatchObject({ type: "downstream_service_error" });
    const none = driver({ output: {} }).run(callWith({ input: ["a"] }));
    expect(await faultOf(none)).toMatchObject({ type: "downstream_service_error" });
  });
});
