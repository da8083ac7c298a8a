import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../src/index.ts";

const ofNode = Symbol.for("undici.globalDispatcher.1");
const limitMs = 1_000;
/** Node looks at its limits about once a second. */
const answerAfterMs = 3_500;

let url: string;
let open = 0;
const server = createServer((request, response) => {
  open++;
  response.on("close", () => open--);
  request.resume();
  setTimeout(() => {
    if (!response.destroyed) response.setHeader("content-type", "application/json").end('{"status":200}');
  }, answerAfterMs);
});
const kept = () => Reflect.get(globalThis, ofNode);
let before: object;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Without a request nothing is kept there yet.
  new Headers();
  before = kept();
  const Agent = before.constructor as new (options: object) => object;
  Reflect.set(globalThis, ofNode, new Agent({ headersTimeout: limitMs }));
});
afterAll(() => {
  Reflect.set(globalThis, ofNode, before);
  server.closeAllConnections();
  server.close();
});

test("a prediction is waited for longer than Node waits for an answer, and can be left at any time", async () => {
  const client = createClient({ url, retries: 0 });
  const given = createClient({ url, retries: 0, fetch: (...args) => fetch(...args) });
  const tooLong = { type: "connection_error", message: expect.stringContaining("UND_ERR_HEADERS_TIMEOUT") };
  const leaving = new AbortController();
  const left = expect(client.predict("a/b", {}, { signal: leaving.signal })).rejects.toThrow("enough");
  await Promise.all([
    expect(client.predict("a/b", {})).resolves.toEqual({ status: 200 }),
    expect(client.me()).rejects.toMatchObject(tooLong),
    // A custom fetch has its own limits.
    expect(given.predict("a/b", {})).rejects.toMatchObject(tooLong),
    new Promise((resolve) => setTimeout(resolve, 200)).then(() => leaving.abort(new Error("enough"))),
    left,
  ]);
  await expect.poll(() => open).toBe(0);
}, 15_000);
