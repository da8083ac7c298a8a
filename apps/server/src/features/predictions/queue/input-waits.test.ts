import { expect, test } from "vitest";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import { fault } from "../../../kernel/errors.ts";
import { createLog } from "../../../kernel/log.ts";
import type { Model } from "../../models/index.ts";
import type { ClaimedJob } from "../prediction.ts";
import { createInputWaits, isBrokenForGood, pauseBeforeNextTry } from "./input-waits.ts";

test("the pause doubles with each attempt up to a minute", () => {
  const seconds = (claims: number[]) => claims.map((claim) => pauseBeforeNextTry(claim) / 1000);
  // Started at acceptance, or claimed from the queue.
  expect(seconds([1, 3, 5, 7, 9, 11, 13])).toEqual([2, 4, 8, 16, 32, 60, 60]);
  expect(seconds([2, 4, 6, 8, 10, 12, 2_000_000])).toEqual([2, 4, 8, 16, 32, 60, 60]);
});

test("the fifth break of a download is the last", () => {
  expect([1, 4, 5, 6].map(isBrokenForGood)).toEqual([false, false, true, true]);
});

const away = fault("service_unavailable", "away");
const model = { manifest: { max_queue_seconds: 60, timeout_seconds: 60 } } as Model;
const key = "inputs/pred_1/0";
const job = (claim: number, ageSeconds = 0) =>
  ({ id: "pred_1", claim, acceptedAt: new Date(Date.now() - ageSeconds * 1000).toISOString() }) as ClaimedJob;
const waitsOn = (stat: () => Promise<undefined>) =>
  createInputWaits({ blobs: { stat } as unknown as BlobStore, log: createLog("silent") });

test("waits for a store that is unavailable", async () => {
  const waits = waitsOn(() => Promise.reject(away));
  for (let n = 0; n < 20; n++) {
    expect(await waits.judge(job(1), model, { key, brokeOff: n % 2 === 0 }, away)).toEqual({ pauseMs: 2_000 });
  }
});

test("waits no longer than the prediction might have queued", async () => {
  const waits = waitsOn(() => Promise.reject(away));
  const last = await waits.judge(job(13, 119), model, { key, brokeOff: false }, away);
  expect("pauseMs" in last && last.pauseMs).toBeGreaterThan(0);
  expect("pauseMs" in last && last.pauseMs).toBeLessThanOrEqual(1_000);
  expect(await waits.judge(job(13, 120), model, { key, brokeOff: false }, away)).toEqual({ failure: away });
});

test("gives up at the fifth break while the store answers, and forgets the count at the end", async () => {
  const waits = waitsOn(() => Promise.resolve(undefined));
  const judged = () => waits.judge(job(1), model, { key, brokeOff: true }, away);
  for (let n = 0; n < 4; n++) expect(await judged()).toEqual({ pauseMs: 2_000 });
  expect(await judged()).toMatchObject({ failure: { type: "service_unavailable", retryable: true, cause: away } });
  waits.forget("pred_1");
  expect(await judged()).toEqual({ pauseMs: 2_000 });
});
