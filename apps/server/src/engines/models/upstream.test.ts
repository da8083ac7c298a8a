import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { fault } from "../../kernel/errors.ts";
import { toLoggedError } from "../../kernel/log.ts";
import { createNet } from "../net/create-net.ts";
import { createMask } from "./mask.ts";
import { joinUrl, requestJson, requestUpstream, type UpstreamError, UpstreamFailure } from "./upstream.ts";

const net = createNet({ allowPrivateNetwork: true });
const signal = new AbortController().signal;
let server: Server;
let url = "";
let requests = 0;
let listener: RequestListener = () => {};

beforeEach(async () => {
  requests = 0;
  server = createServer((request, response) => {
    requests++;
    listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
afterAll(() => net.close());

describe("requestJson", () => {
  it("opens a streamed body for every try", async () => {
    const bodies: string[] = [];
    listener = async (request, response) => {
      let body = "";
      for await (const piece of request) body += String(piece);
      bodies.push(body);
      response.writeHead(bodies.length < 3 ? 503 : 200).end('{"ok":true}');
    };
    const { json } = await requestJson(net, { url, signal, body: () => Readable.from(["a", "b"]) });
    expect(json).toEqual({ ok: true });
    expect(bodies).toEqual(["ab", "ab", "ab"]);
  });

  it("retries an answer that broke off", async () => {
    listener = (_, response) => {
      if (requests > 1) return void response.end('{"ok":1}');
      response.writeHead(200, { "content-length": "50" });
      response.write("{", () => response.destroy());
    };
    expect((await requestJson(net, { url, signal })).json).toEqual({ ok: 1 });
  });

  it("fails on invalid JSON without showing it", async () => {
    listener = (_, response) => void response.end("<html>key-123 at db-7</html>");
    const error = await requestJson(net, { url, signal, mask: createMask(["key-123"]) }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ type: "downstream_service_error" });
    expect((error as Error).message).not.toContain("db-7");
    expect(((error as Error).cause as UpstreamError).details).toContain("[hidden] at db-7");
    expect(JSON.stringify(toLoggedError(error))).not.toContain("db-7");
  });

  it("respects the number of tries", async () => {
    listener = (_, response) => void response.writeHead(503).end();
    await expect(requestJson(net, { url, signal, tries: 1 })).rejects.toMatchObject({ retryable: true });
    expect(requests).toBe(1);
  });

  it("does not retry after a headers timeout", async () => {
    listener = () => {};
    const work = requestJson(net, { url, signal, bounds: { totalMs: 200 } });
    await expect(work).rejects.toMatchObject({ type: "downstream_service_unavailable" });
    expect(requests).toBe(1);
  });

  it("fails on an answer that is too long", async () => {
    listener = (_, response) => void response.end(`"${"x".repeat(5000)}"`);
    const work = requestJson(net, { url, signal, bounds: { maxBytes: 1000 } });
    await expect(work).rejects.toMatchObject({ type: "downstream_service_error" });
  });
});

describe("requestUpstream", () => {
  it("lets the protocol explain a refusal", async () => {
    listener = (_, response) => void response.writeHead(400).end('{"code":"InvalidImageURL"}');
    const work = requestUpstream(net, {
      url,
      signal,
      explain: (status, body) =>
        status === 400 && body.includes("InvalidImageURL") ? fault("file_download_error", "No such file") : undefined,
    });
    await expect(work).rejects.toMatchObject({ type: "file_download_error" });
  });

  it("refuses private addresses without a connection", async () => {
    const guarded = createNet({ allowPrivateNetwork: false });
    const error = await requestUpstream(guarded, { url, signal }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ type: "downstream_service_error", retryable: false });
    expect((error as Error).message).not.toContain("127.0.0.1");
    expect((error as Error).message).toContain("The operator can allow it in GANTRY_ALLOW_PRIVATE_NETWORK");
    // The log shows the entry to add.
    expect(String((error as Error).cause)).toContain(`add ${new URL(url).host} to GANTRY_ALLOW_PRIVATE_NETWORK`);
    expect(requests).toBe(0);
    await guarded.close();
  });
});

describe("UpstreamFailure", () => {
  it("keeps the start of the body, without the key in any form", () => {
    const key = 'k"e/y';
    const body = `${key} ${JSON.stringify(key)} ${encodeURIComponent(key)} ${"x".repeat(5000)}`;
    const failure = new UpstreamFailure({
      status: 500,
      body,
      mask: createMask([key]),
      headers: { "x-request-id": "r1" },
    });
    expect(failure.body.startsWith('[hidden] "[hidden]" [hidden] xxx')).toBe(true);
    expect(failure.body).toHaveLength(2048);
    expect(failure.requestId).toBe("r1");
  });

  it("logs the code and the request id, and nothing that the body may quote", () => {
    const body = JSON.stringify({ error: { message: "No to: a red drone", type: "error", code: "content_filter" } });
    const failure = new UpstreamFailure({ status: 400, body, headers: { "x-request-id": "req-7" } });
    expect(toLoggedError(failure)).toMatchObject({ status: 400, code: "content_filter", request_id: "req-7" });
    expect(JSON.stringify(toLoggedError(failure))).not.toContain("drone");
  });

  it.each([
    ["2", 2000],
    ["0", 0],
    ["soon", undefined],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ])("reads Retry-After %s", (header, ms) => {
    const failure = new UpstreamFailure({ status: 429, body: "", headers: { "retry-after": header } });
    expect(failure.retryAfterMs).toBe(ms);
  });
});

it.each([
  ["https://a/v1", "messages"],
  ["https://a/v1/", "/messages"],
])("joins %s and %s", (base, path) => expect(joinUrl(base, path)).toBe("https://a/v1/messages"));
