import { expect, test } from "vitest";
import { fault } from "../../../kernel/errors.ts";
import { issuesToStore, renewLinks, storedFault } from "./result-item.ts";

const reread = (error: ReturnType<typeof issuesToStore>) => storedFault(JSON.parse(JSON.stringify(error)));

test.each([
  [fault("internal_server_error", "x"), true],
  [fault("internal_server_error", "x", { retryable: false }), false],
  [fault("content_policy_violation", "x", { loc: ["body", "prompt"] }), false],
  [fault("downstream_service_error", "x", { retryable: true, ctx: { a: 1 } }), true],
])("what was known of a failure is known again: %s", (failure, retryable) => {
  const again = reread(issuesToStore(failure));
  expect(again).toMatchObject({ type: failure.type, status: failure.status, retryable });
  expect(again?.issues).toEqual(failure.issues);
});

test("stores only what differs from the error table", () => {
  expect(issuesToStore(fault("internal_server_error", "x"))).toEqual([
    { type: "internal_server_error", loc: ["body"], msg: "x" },
  ]);
  expect(storedFault(null)).toBeUndefined();
});

const hours = 3_600_000;
const payload = JSON.stringify({
  prediction_id: "pred_1",
  infer_details: { status: 200 },
  response: { seed: 7, image: "s3://gantry/outputs/pred_1/a.jpg", mask: "s3://elsewhere/outputs/pred_1/b.jpg" },
  files: {
    image: { url: "http://here:1/old-a?X-Amz-Expires=86400" },
    mask: { url: "http://here:1/old-b?X-Amz-Expires=86400" },
  },
  last: true,
});
const linkOf = async (s3Path: string, base: string) => {
  if (!s3Path.startsWith("s3://gantry/")) throw new Error("no address of this store");
  return { url: `${base}/new${s3Path.slice("s3://gantry".length)}` };
};
const renewed = (ageMs: number, publicUrl?: string) => renewLinks({ linkOf, publicUrl }, payload, ageMs);

test("fresh links stay as they are", async () => {
  expect(await renewed(11 * hours)).toBe(payload);
});

test("old links are replaced under the same origin, unless they cannot be signed", async () => {
  expect(await renewed(13 * hours)).toBe(
    payload.replace("http://here:1/old-a?X-Amz-Expires=86400", "http://here:1/new/outputs/pred_1/a.jpg"),
  );
});

test("links that end earlier are replaced earlier", async () => {
  const short = payload.replaceAll("86400", "3600");
  const at = (ageMs: number) => renewLinks({ linkOf, publicUrl: undefined }, short, ageMs);
  expect(await at(hours / 3)).toBe(short);
  expect(await at(0.6 * hours)).toContain("http://here:1/new/outputs/pred_1/a.jpg");
});

test("the public URL of the operator takes precedence", async () => {
  expect(await renewed(13 * hours, "https://out.example/gantry")).toContain(
    '"url":"https://out.example/gantry/new/outputs/pred_1/a.jpg"',
  );
});

test("a payload without files is unchanged", async () => {
  const failed = JSON.stringify({ response: { detail: [{ msg: "ü", 1: 2.5e-7 }] }, files: {} });
  expect(await renewLinks({ linkOf, publicUrl: undefined }, failed, 40 * hours)).toBe(failed);
});
