import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createClient, type Input } from "../src/index.ts";

const sent: string[] = [];
const client = createClient({
  url: "http://service.test",
  fetch: async (_, init = {}) => {
    sent.push(await new Response(init.body).text());
    return Response.json({ prediction_id: "pred_1", file_input: { s3_path: "s3://gantry/x" } });
  },
});

/** The fields of what was sent last. */
const fields = () =>
  Object.fromEntries([...(sent.at(-1) ?? "").matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/g)].map(([, ...pair]) => pair));
const withoutTypes = (value: unknown) => ({ value }) as Input;

class Point {
  x = 1;
}
class Money {
  toJSON() {
    return "1.50";
  }
}
class Says {
  #told: unknown;
  constructor(told: unknown) {
    this.#told = told;
  }
  toJSON() {
    return this.#told;
  }
}

describe("a field", () => {
  test("is sent as one part for each file where it is a list of files", async () => {
    const photos = [new File(["one"], "a.png"), "s3://gantry/b.png", Buffer.from("two")];
    await client.predict("a/b", { photos, tags: ["x", "y"] });
    const parts = (sent.at(-1) ?? "").split(/--gantry-\w+(?:--)?\r\n/).filter(Boolean);
    const read = parts.map((part) => [/name="(\w+)"/.exec(part)?.[1], part.split("\r\n\r\n")[1]?.trimEnd()]);
    expect(read).toEqual([
      ["photos", "one"],
      ["photos", "s3://gantry/b.png"],
      ["photos", "two"],
      ["tags", '["x","y"]'],
    ]);
  });

  test("is sent as its text where it is a number, a date or an address", async () => {
    const whole = 2n ** 64n;
    const at = new Date(0);
    await client.predict("a/b", { none: 0, half: 0.5, whole, at, link: new URL("http://a.test") } as object as Input);
    expect(fields()).toEqual({
      none: "0",
      half: "0.5",
      whole: "18446744073709551616",
      at: "1970-01-01T00:00:00.000Z",
      link: "http://a.test/",
    });
  });

  test("is sent as JSON where it is a list or an object, of whatever class", async () => {
    const input = { plain: { a: [1, null] }, none: Object.create(null), point: new Point(), money: [new Money()] };
    const told = [new Says({ a: 1 }), new Says(null), new Says([])];
    await client.predict("a/b", { ...input, told, list: [], at: [new Date(0)] } as object as Input);
    expect(fields()).toEqual({
      plain: '{"a":[1,null]}',
      none: "{}",
      point: '{"x":1}',
      money: '["1.50"]',
      told: '[{"a":1},null,[]]',
      list: "[]",
      at: '["1970-01-01T00:00:00.000Z"]',
    });
  });

  test.each<[string, () => unknown]>([
    ["Promise", () => Promise.resolve("x")],
    ["Map", () => new Map([["a", 1]])],
    ["Set", () => new Set([1])],
    ["ReadStream", () => createReadStream("/dev/null")],
    ["ReadableStream", () => new ReadableStream()],
    ["Response", () => new Response("x")],
    ["function", () => () => "x"],
    ["Blob within a list or an object", () => [[new Blob(["x"])]]],
    ["Uint8Array within a list or an object", () => ({ image: new Uint8Array(2) })],
    ["Buffer within a list or an object", () => ({ deep: [Buffer.from("x")] })],
    ["Promise within a list or an object", () => ({ deep: [{ later: Promise.resolve() }] })],
    ["NaN", () => Number.NaN],
    ["-Infinity", () => Number.NEGATIVE_INFINITY],
    ["NaN within a list or an object", () => [1, Number.NaN]],
    ["Infinity within a list or an object", () => ({ most: Number.POSITIVE_INFINITY })],
    ["Invalid Date", () => new Date("never")],
    ["Invalid Date within a list or an object", () => [new Date("never")]],
    ["Says", () => new Says(new Map([["a", 1]]))],
    ["Says", () => new Says(Number.NaN)],
    ["Says", () => new Says(new Date(0))],
    ["Says", () => new Says(undefined)],
    ["Says within a list or an object", () => ({ deep: [new Says(undefined)] })],
  ])("that is %s is refused before anything is sent", async (kind, make) => {
    sent.length = 0;
    const refusal = new RegExp(
      `^The value of value cannot be sent \\(${kind}\\)\\. Use strings, .* bytes as a file\\.$`,
    );
    const failure = await client.predict("a/b", withoutTypes(make())).catch((error) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure.message).toMatch(refusal);
    await expect(client.stream("a/b", withoutTypes(make())).next()).rejects.toThrow(refusal);
    await expect(client.submit("a/b", withoutTypes(make()))).rejects.toThrow(refusal);
    expect(sent).toEqual([]);
  });
});

test.each<[string, unknown]>([
  ["Promise", Promise.resolve({ prompt: "x" })],
  ["Map", new Map([["prompt", "x"]])],
  ["FormData", new FormData()],
  ["Blob", new Blob(["x"])],
  ["Array", ["x"]],
  ["Point", new Point()],
  ["string", "hi"],
  ["undefined", undefined],
  ["null", null],
])("an input that is %s is refused before anything is sent", async (kind, input) => {
  sent.length = 0;
  const refusal = new TypeError(`The input cannot be sent (${kind}): use a plain object with the fields by name`);
  await expect(client.predict("a/b", input as Input)).rejects.toThrow(refusal);
  await expect(client.stream("a/b", input as Input).next()).rejects.toThrow(refusal);
  await expect(client.submit("a/b", input as Input, { user: { id: 7 } })).rejects.toThrow(refusal);
  expect(sent).toEqual([]);
});

test("webhook and user may be in the input or in the options, but not in both", async () => {
  const webhook = { url: "http://hook.test" };
  const user = { id: 7 };
  const all = { prompt: "x", webhook: JSON.stringify(webhook), user: JSON.stringify(user) };
  await client.submit("a/b", { prompt: "x", webhook, user });
  expect(fields()).toEqual(all);
  await client.submit("a/b", { prompt: "x", webhook, user: null }, { user, webhook: undefined });
  expect(fields()).toEqual(all);
  await client.submit("a/b", { prompt: "x" }, { webhook, user });
  expect(fields()).toEqual(all);
  await client
    .stream("a/b", { prompt: "x", user })
    .next()
    .catch(() => {});
  expect(fields()).toEqual({ prompt: "x", user: all.user });
  sent.length = 0;
  const twice = new TypeError("webhook is given twice: in the input and in the options");
  await expect(client.submit("a/b", { webhook }, { webhook })).rejects.toThrow(twice);
  await expect(client.stream("a/b", { user }, { user }).next()).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});

describe("an upload", () => {
  test("takes bytes as it takes a Blob", async () => {
    for (const content of [new Blob(["text"]), new TextEncoder().encode("text"), Buffer.from("text")]) {
      await client.files.upload("a/b", content);
      expect(sent.at(-1)).toContain("\r\n\r\ntext\r\n");
    }
  });

  test.each<[string, () => unknown]>([
    ["Readable", () => Readable.from(["x"])],
    ["ReadableStream", () => new ReadableStream()],
    ["string", () => "/tmp/photo.png"],
    ["Object", () => ({})],
    ["undefined", () => undefined],
  ])("of %s is refused before anything is sent", async (kind, make) => {
    sent.length = 0;
    for (const direct of [false, true]) {
      const uploading = client.files.upload("a/b", make() as Blob, { direct });
      await expect(uploading).rejects.toThrow(
        new TypeError(`A file must be a Blob or bytes, not ${kind}. Use openAsBlob of node:fs for a file on disk.`),
      );
    }
    expect(sent).toEqual([]);
  });
});
