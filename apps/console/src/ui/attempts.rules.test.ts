import { GantryError } from "@gantry/sdk";
import { expect, test } from "vitest";
import { createAttempts } from "./attempts.rules.ts";

const failure = (status: number, type?: string) =>
  new GantryError({ status, type, message: "no", retryable: false, requestId: undefined, body: undefined });
const lost = failure(0, "connection_error");

/** Sends contents in turn, each with what it comes to; answers the keys that they went out under. */
async function keysOf(sent: readonly [content: unknown, end: unknown][]): Promise<string[]> {
  let made = 0;
  const keys: string[] = [];
  const attempts = createAttempts(() => `key ${++made}`);
  for (const [content, end] of sent) {
    const go = async (key: string) => {
      keys.push(key);
      if (end !== "done") throw end;
    };
    await attempts.send(content, go).catch(() => undefined);
  }
  return keys;
}

test("what was not answered keeps its key until it is", async () => {
  const five = { amount: 5 };
  const keys = await keysOf([
    [five, lost],
    [five, failure(502)],
    [{ amount: 5 }, "done"],
    [five, "done"],
  ]);
  expect(keys).toEqual(["key 1", "key 1", "key 1", "key 2"]);
});

test("other content, and what was refused, gets a key of its own", async () => {
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

test("files are told apart", async () => {
  const file = (text: string) => ({ image: new File([text], "a.png", { lastModified: 1 }) });
  expect(
    await keysOf([
      [file("one"), lost],
      [file("one"), lost],
      [file("other"), lost],
    ]),
  ).toEqual(["key 1", "key 1", "key 2"]);
});

test("keys of its own making differ", async () => {
  const keys = new Set<string>();
  for (let n = 0; n < 3; n++) await createAttempts().send(n, async (key) => keys.add(key));
  expect(keys.size).toBe(3);
});
