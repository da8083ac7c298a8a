import { GantryError } from "@gantry/sdk";
import { expect, test } from "vitest";
import { createAttempts } from "./attempts.rules.ts";

const failure = (status: number, type?: string) =>
  new GantryError({ status, type, message: "no", retryable: false, requestId: undefined, body: undefined });
const lost = failure(0, "connection_error");

/** Sends each content with its outcome and returns the keys that were used. */
async function keysOf(sent: readonly [content: unknown, end: unknown][]): Promise<string[]> {
  let created = 0;
  const keys: string[] = [];
  const attempts = createAttempts(() => `key ${++created}`);
  for (const [content, end] of sent) {
    const go = async (key: string) => {
      keys.push(key);
      if (end !== "done") throw end;
    };
    await attempts.send(content, go).catch(() => undefined);
  }
  return keys;
}

test("an unanswered request keeps its key until it is answered", async () => {
  const five = { amount: 5 };
  const keys = await keysOf([
    [five, lost],
    [five, failure(502)],
    [{ amount: 5 }, "done"],
    [five, "done"],
  ]);
  expect(keys).toEqual(["key 1", "key 1", "key 1", "key 2"]);
});

test("other content, or a refusal, starts a new key", async () => {
  expect(
    await keysOf([
      [{ amount: 5 }, lost],
      [{ amount: 6 }, "done"],
    ]),
  ).toEqual(["key 1", "key 2"]);
  for (const refused of [failure(422), failure(402), failure(503)]) {
    expect(
      await keysOf([
        ["the same", refused],
        ["the same", "done"],
      ]),
    ).toEqual(["key 1", "key 2"]);
  }
});

test("files with different content count as different requests", async () => {
  const file = (text: string) => ({ image: new File([text], "a.png", { lastModified: 1 }) });
  expect(
    await keysOf([
      [file("one"), lost],
      [file("one"), lost],
      [file("other"), lost],
    ]),
  ).toEqual(["key 1", "key 1", "key 2"]);
});

test("generated keys differ", async () => {
  const keys = new Set<string>();
  for (let n = 0; n < 3; n++) await createAttempts().send(n, async (key) => keys.add(key));
  expect(keys.size).toBe(3);
});
