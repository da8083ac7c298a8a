import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createClient, GantryError } from "../src/index.ts";

/** A service that keeps what it was sent. */
function keeping(answerWith: (init: RequestInit) => Response | Promise<Response>) {
  const sent: RequestInit[] = [];
  const client = createClient({
    url: "http://service.test",
    key: "k",
    fetch: async (_, init = {}) => {
      sent.push(init);
      return answerWith(init);
    },
  });
  return { client, sent };
}

const record = { path: "/f", size: 1, created_at: "2026-01-31T12:00:00.000Z" };
const written = () => Response.json(record, { status: 201, headers: { etag: '"1"' } });
const reading = async (init: RequestInit) => {
  texts.push(await new Response(init.body).text());
  return written();
};
const texts: string[] = [];

async function* pieces(...given: (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* given;
}

test("a form is the same around a stream and around what is whole", async () => {
  texts.length = 0;
  const { client, sent } = keeping(reading);
  const options = { type: "text/x-any" };
  expect(await client.drives.files.upload("drv", "/a\nb", pieces("one ", "é"), options)).toEqual({
    ...record,
    etag: '"1"',
  });
  await client.drives.files.upload("drv", "/a\nb", "one é", options);
  const boundaries = sent.map(({ headers }) => new Headers(headers).get("content-type")?.split("boundary=")[1] ?? "");
  const [streamed, whole] = texts.map((text, at) => text.replaceAll(boundaries[at] ?? "", "B"));
  expect(streamed).toBe(whole);
  expect(whole).toBe(
    '--B\r\nContent-Disposition: form-data; name="path"\r\n\r\n/a\nb\r\n' +
      '--B\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: text/x-any\r\n\r\none é' +
      "\r\n--B--\r\n",
  );
});

test("conditions and types are headers, and what is not given is not sent", async () => {
  const { client, sent } = keeping(reading);
  await client.drives.files.replace("drv", "/f", "x");
  await client.drives.files.replace("drv", "/f", new Blob(["x"], { type: "image/png" }), { ifMatch: '"1"' });
  await client.drives.files.replace("drv", "/f", pieces("x"), { type: "text/csv", ifNoneMatch: "*" });
  expect(sent.map(({ headers }) => Object.fromEntries(new Headers(headers)))).toEqual([
    { "x-api-key": "k" },
    { "x-api-key": "k", "content-type": "image/png", "if-match": '"1"' },
    { "x-api-key": "k", "content-type": "text/csv", "if-none-match": "*" },
  ]);
});

test("what can be read again is sent again after a refusal at the door, a stream never", async () => {
  const refused = () =>
    Response.json({}, { status: 503, headers: { "x-service-retryable": "true", "retry-after": "0" } });
  for (const [content, times] of [
    ["text", 3],
    [pieces("text"), 1],
  ] as const) {
    const { client, sent } = keeping(refused);
    await expect(client.drives.files.upload("drv", "/f", content)).rejects.toMatchObject({ status: 503 });
    expect(sent.length).toBe(times);
  }
});

test("a stream is closed even if it was not read to its end, or at all", async () => {
  for (const answer of [() => written(), () => Response.json({}, { status: 401 })]) {
    const { client } = keeping(answer);
    const stream = new PassThrough();
    await client.drives.files.upload("drv", "/f", stream).catch((error) => expect(error).toBeInstanceOf(GantryError));
    expect(stream.destroyed).toBe(true);
  }
  const { client, sent } = keeping(written);
  const locked = new ReadableStream<Uint8Array>();
  locked.getReader();
  await expect(client.drives.files.upload("drv", "/f", locked)).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});

test("a head without a length is not an empty file", async () => {
  const { client } = keeping(() => new Response(null, { headers: { etag: '"1"' } }));
  await expect(client.drives.files.head("drv", "/f")).rejects.toMatchObject({ type: "connection_error" });
});
