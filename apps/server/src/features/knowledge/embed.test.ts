import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import type { EmbedEnd, EmbedRequest } from "../predictions/index.ts";
import { type EmbedCall, embedTexts } from "./embed.ts";

const stop = vi.fn();
const failed = (inferenceMs: number | undefined): EmbedEnd["outcome"] => ({
  kind: "failed",
  fault: fault("generation_timeout", "too late"),
  usage: undefined,
  streamDetails: undefined,
  inferenceMs,
  price: 0,
});

/** Embeds with a prediction that runs `during` before and after it becomes live. */
function embedding(
  call: Pick<EmbedCall, "signal" | "isHandedOn" | "onFailed">,
  outcome: EmbedEnd["outcome"],
  during: { before?(): void; after?(): void } = {},
) {
  stop.mockClear();
  const embed = async ({ onLive }: EmbedRequest): Promise<EmbedEnd> => {
    during.before?.();
    onLive({ stop } as unknown as Parameters<typeof onLive>[0]);
    during.after?.();
    return { predictionId: "p", outcome, embedded: { vectors: [new Float32Array([3, 4])], inputTokens: 1 } };
  };
  const predictions = { embed, mostCost: async () => 0 };
  return embedTexts({ predictions }, { caller: {} as Caller, model: {} as Model, texts: ["a"], ...call });
}

test.each(["before", "after"] as const)("an abort stops the call, %s it is live", async (when) => {
  for (const [isHandedOn, reason] of [
    [undefined, "left"],
    [() => false, "left"],
    [() => true, "shutdown"],
  ] as const) {
    const leaving = new AbortController();
    const ended = embedding({ signal: leaving.signal, isHandedOn }, failed(5), {
      [when]: () => leaving.abort(new Error("gone")),
    });
    await expect(ended).rejects.toThrow("gone");
    expect(stop.mock.calls).toEqual([[reason]]);
  }
});

test("vectors that arrive after an abort are kept, because they are paid for", async () => {
  const leaving = new AbortController();
  const done = { ...failed(5), kind: "done", output: {} } as EmbedEnd["outcome"];
  const vectors = await embedding({ signal: leaving.signal }, done, { after: () => leaving.abort() });
  expect(vectors.map((vector) => vector[0])).toEqual([expect.closeTo(0.6)]);
});

test("the signal has no listener after a call", async () => {
  const { signal } = new AbortController();
  await expect(embedding({ signal }, failed(5))).rejects.toThrow("too late");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("the model did not fail if the call ended in the queue", async () => {
  const { signal } = new AbortController();
  const onFailed = vi.fn();
  await expect(embedding({ signal, onFailed }, failed(undefined))).rejects.toThrow("too late");
  expect(onFailed).not.toHaveBeenCalled();
  await expect(embedding({ signal, onFailed }, failed(0))).rejects.toThrow("too late");
  expect(onFailed).toHaveBeenCalledTimes(1);
});
