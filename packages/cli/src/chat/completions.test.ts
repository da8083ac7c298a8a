import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wholeAnswer } from "./completions.ts";

const ofNode = Symbol.for("undici.globalDispatcher.1");
const limitMs = 1_000;

let url: string;
/** Gets the response to a chat when its request has arrived. Other requests are never answered. */
let chat: PromiseWithResolvers<ServerResponse>;
const server = createServer((request, response) => {
  request.resume();
  if (request.method === "POST") chat.resolve(response);
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

test("a whole answer may take longer than Node waits for a response", async () => {
  chat = Promise.withResolvers();
  const target = { url, key: undefined, team: undefined };
  const { signal } = new AbortController();
  const answerLate = async () => {
    const response = await chat.promise;
    // This limit begins later than that of the chat.
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: "UND_ERR_HEADERS_TIMEOUT" } });
    response.setHeader("content-type", "application/json").end('{"id":"chat_1"}');
  };
  const [answer] = await Promise.all([
    wholeAnswer(target, "a/b", [{ role: "user", content: "Why?" }], signal),
    answerLate(),
  ]);
  expect(answer).toEqual({ id: "chat_1" });
});
