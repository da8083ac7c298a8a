import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { answering, beginStream } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { useDoorsPlatform } from "../../support/doors-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useDoorsPlatform();
const megabyte = 1_048_576;
const usage = { input: 9, output: 5 };

/** A JSON body of this many bytes. */
function bodyOf(bytes: number, model = "admin/native"): string {
  const empty = JSON.stringify({ model, messages: [{ role: "user", content: "" }], user: "" });
  return empty.replace('"user":""', `"user":"${"x".repeat(bytes - empty.length)}"`);
}

function post(body: string, { key = platform.gantry.adminKey, signal }: { key?: string; signal?: AbortSignal } = {}) {
  return fetch(`${platform.gantry.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
    ...(signal && { signal }),
  });
}

test("a body of 31 MB reaches the upstream, one of 33 MB is a 413", async () => {
  platform.native.play(answering({ text: ["A"], usage }));
  const accepted = await post(bodyOf(31 * megabyte));
  expect(accepted.status, await accepted.text()).toBe(200);
  expect(String(platform.native.requests[0]?.body.user).length).toBeGreaterThan(30 * megabyte);
  const refused = await post(bodyOf(33 * megabyte));
  expect(refused.status).toBe(413);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect(await refused.json()).toMatchObject({
    error: { type: "invalid_request_error", message: expect.stringContaining("32 MB") },
  });
});

test("an image of a large body is translated", async () => {
  platform.translated.play(answering({ text: ["A"], usage }));
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const content = Array.from({ length: 20 }, () => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${pixel}` },
  }));
  const body = JSON.stringify({
    model: "admin/translated",
    messages: [{ role: "user", content }],
    user: "x".repeat(5 * megabyte),
  });
  const answer = await post(body);
  expect(answer.status, await answer.text()).toBe(200);
  expect(JSON.stringify(platform.translated.requests[0]?.body).split(pixel)).toHaveLength(21);
});

test("large bodies share one bound: a user's fifth at a time is a 503 until one ends", async () => {
  const key = await platform.gantry.newUser("hoarder");
  const other = await platform.gantry.newUser("neighbour");
  platform.native.play(({ response }) => {
    beginStream(response);
    response.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n');
  });
  const leave = new AbortController();
  const stream = (bytes: number) => bodyOf(bytes).replace('"user":', '"stream":true,"user":');
  const held = [];
  for (let n = 0; n < 4; n++) held.push(await post(stream(31 * megabyte), { key, signal: leave.signal }));
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const fifth = await post(stream(31 * megabyte), { key });
  expect(fifth.status).toBe(503);
  expect([fifth.headers.get("retry-after"), fifth.headers.get("x-should-retry")]).toEqual(["1", "true"]);
  expect(await fifth.json()).toMatchObject({ error: { type: "server_error" } });
  platform.native.play(answering({ text: ["A"], usage }));
  expect((await post(bodyOf(5 * megabyte), { key: other })).status).toBe(200);
  leave.abort();
  await waitFor("memory for another body", async () => (await post(bodyOf(31 * megabyte), { key })).status === 200);
});

test("small bodies without a length do not take the memory of large ones", async () => {
  platform.native.play(({ response }) => {
    beginStream(response);
    response.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n');
  });
  const { hostname, port } = new URL(platform.gantry.url);
  const body = JSON.stringify({ model: "admin/native", messages: [{ role: "user", content: "a" }], stream: true });
  const opened = Array.from({ length: 12 }, () => {
    const headers = {
      "x-api-key": platform.gantry.adminKey,
      "content-type": "application/json",
      "transfer-encoding": "chunked",
    };
    const asked = request({ hostname, port, path: "/v1/chat/completions", method: "POST", headers });
    asked.end(body);
    return asked;
  });
  const statuses = opened.map(
    (asked) =>
      new Promise<number | undefined>((resolve) => asked.once("response", ({ statusCode }) => resolve(statusCode))),
  );
  // Those that arrive together may wait for each other's bodies to be read.
  const seen = await Promise.all(statuses);
  for (const asked of opened) asked.on("error", () => {}).destroy();
  expect(seen.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
  platform.native.play(answering({ text: ["A"], usage }));
  await waitFor("another large body", async () => (await post(bodyOf(31 * megabyte))).status === 200);
});

test("images that the server fetches share the bound of large bodies", async () => {
  const key = await platform.gantry.newUser("gallery");
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(30 * megabyte)]);
  const gallery = createServer((_, response) => response.writeHead(200, { "content-type": "image/png" }).end(png));
  await once(gallery.listen(0, "127.0.0.1"), "listening");
  const { port } = gallery.address() as AddressInfo;
  platform.translated.play(({ response }) => beginStream(response));
  const content = [{ type: "image_url", image_url: { url: `http://127.0.0.1:${port}/a.png` } }];
  const leave = new AbortController();
  const body = JSON.stringify({ model: "admin/translated", messages: [{ role: "user", content }] });
  const ask = () => post(body, { key, signal: leave.signal });
  try {
    const held = Array.from({ length: 4 }, ask);
    for (const one of held) one.catch(() => {});
    await waitFor("four calls", () => platform.translated.requests.length === 4);
    const fifth = await ask();
    expect([fifth.status, fifth.headers.get("x-should-retry")]).toEqual([503, "true"]);
  } finally {
    leave.abort();
    gallery.close();
  }
  await waitFor("free memory", async () => {
    const again = new AbortController();
    const answer = post(body.replaceAll(`http://127.0.0.1:${port}/a.png`, "data:,"), { key, signal: again.signal });
    return (await answer).status === 400;
  });
});
