import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { agentErrorBody } from "../agents-api/agents-dialect.ts";
import { createFrontListener, type FrontListener } from "./front-listener.ts";

const pace = { shortBytes: 1024, windowMs: 200, bytesPerSecond: 10_000, checkMs: 20 };
let frontListener: FrontListener;
let port: number;

beforeEach(async () => {
  frontListener = createFrontListener(undefined, { "/v1": (failure) => agentErrorBody(failure).body }, pace);
  port = await frontListener.listen("127.0.0.1", 0);
});
afterEach(() => frontListener.close());

/** What comes back for these bytes, on a connection that is closed after the answer. */
function answerTo(head: string, sent = ""): Promise<{ status: number; headers: string; body: unknown }> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(`${head}\r\nConnection: close\r\n\r\n${sent}`));
    socket.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", reject).on("close", () => {
      const [headers = "", body = ""] = text.split("\r\n\r\n");
      const json = body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1);
      resolve({ status: Number(headers.slice(9, 12)), headers, body: JSON.parse(json) });
    });
  });
}
const requestId = /x-request-id: (\S+)/;
const get = (address: string, host = "Host: x") => answerTo(`GET ${address} HTTP/1.1\r\n${host}`);

describe.each(["starting", "shutting down"])("while the server is %s", (state) => {
  beforeEach(() => {
    if (state === "shutting down") frontListener.refuseNew();
  });
  const message = `The server is ${state}`;

  test("every part says so in its own words, as worth another try", async () => {
    for (const address of ["/api/v2/me", "/", "/v10/x"]) {
      const { status, headers, body } = await get(address);
      expect([status, body], address).toMatchObject([503, { detail: [{ type: "service_unavailable", msg: message }] }]);
      expect(headers).toMatch(/x-service-retryable: true\r\nretry-after: 1/);
    }
    for (const address of ["/v1", "/v1/agents", "/v1/runs?limit=1", "http://x/v1/agents"]) {
      const { status, headers, body } = await get(address);
      expect([status, body], address).toEqual([503, { error: { type: "unavailable", code: "unavailable", message } }]);
      expect(headers).toMatch(/x-service-retryable: true\r\nretry-after: 1/);
    }
  });

  test("only browsers refresh by themselves", async () => {
    const page = await get("/console/money", "Host: x\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8");
    expect([page.status, page.headers]).toEqual([503, expect.stringContaining("refresh: 2\r\n")]);
    expect((await get("/console/money", "Host: x\r\nAccept: */*")).headers).not.toContain("refresh:");
  });

  test("health checks answer for every spelling", async () => {
    for (const address of ["/healthz", "/healthz/?a", "http://x/healthz", "HTTP://x:80/healthz"]) {
      expect(await get(address), address).toMatchObject({ status: 200, body: { status: "ok" } });
    }
    expect(await get("http://x/readyz")).toMatchObject({ status: 503 });
  });

  test("a valid request id of the client is returned, an invalid one is not", async () => {
    for (const address of ["/healthz", "/readyz", "/api/v2/me", "/v1/agents"]) {
      const idOf = async (given: string) =>
        requestId.exec((await get(address, `Host: x\r\nX-Request-Id: ${given}`)).headers)?.[1];
      expect(await idOf("client-0001"), address).toBe("client-0001");
      for (const given of ["short", "with space", "x".repeat(65)]) {
        expect(await idOf(given), address).toMatch(/^req_/);
      }
    }
  });
});

test("/readyz says why it is not ready, and a failed check counts as not ready", async () => {
  let reason: string | undefined = "The disk is full";
  frontListener.open(
    (_request, response) => response.end(),
    async () => {
      if (reason === "thrown") throw new Error("of the inside");
      return reason;
    },
  );
  expect(await get("/readyz")).toMatchObject({
    status: 503,
    body: { status: "not ready", reason: "The disk is full" },
  });
  reason = "thrown";
  const unknown = await get("/readyz");
  expect(unknown.status).toBe(503);
  expect(JSON.stringify(unknown.body)).not.toContain("of the inside");
  reason = undefined;
  expect(await get("/readyz")).toMatchObject({ status: 200, body: { status: "ready" } });
});

test("from a moment on every answer ends its connection, also those that were asked for before", async () => {
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<ServerResponse>();
  frontListener.open(
    (_request, response) => isAsked(response),
    async () => undefined,
  );
  const early = fetch(`http://127.0.0.1:${port}/early`);
  const response = await asked;
  frontListener.closeAfterAnswers();
  response.end();
  expect((await early).headers.get("connection")).toBe("close");
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).headers.get("connection")).toBe("close");
});

test("connections that another server accepted are served, kept, counted and closed like its own", async () => {
  const taking = createFrontListener(undefined);
  taking.open(
    (request, response) => {
      request.resume().on("end", () => response.end(request.url));
    },
    async () => undefined,
  );
  const accepting = createServer({ pauseOnConnect: true, allowHalfOpen: true }, taking.take).listen(0, "127.0.0.1");
  await once(accepting, "listening");
  const socket = connect((accepting.address() as AddressInfo).port, "127.0.0.1");
  const answers: string[] = [];
  socket.setEncoding("utf8").on("data", (chunk) => answers.push(String(chunk)));
  for (const path of ["/one", "/two"]) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitFor(`an answer to ${path}`, () => answers.join("").endsWith(path));
  }
  // The client ends its half with the request, and reads the answer all the same.
  const half = connect((accepting.address() as AddressInfo).port, "127.0.0.1");
  half.end("POST /half HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  expect((await Array.fromAsync(half)).join("")).toContain("/half");
  // An idle connection ends with the server, which waits for it.
  await taking.close();
  await waitFor("the idle connection to end", () => socket.readableEnded || socket.destroyed);
  accepting.close();
});

describe("a request that does not say whom it asks", () => {
  test.each([
    ["none", "X: y", "Missing Host header."],
    ["two", "Host: a\r\nhOST: b", "More than one Host header."],
    ["the same twice", "Host: a\r\nHost: a", "More than one Host header."],
    ["no host", "Host: a b", "Invalid Host header."],
  ])("is refused: %s", async (_, host, message) => {
    expect(await get("/api/v2/me", host)).toMatchObject({
      status: 400,
      body: { detail: [{ loc: ["body"], type: "request_invalid", msg: message }] },
    });
    expect(await get("/v1/agents", host)).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_input", message } },
    });
  });
});

describe("a body that is read late", () => {
  const lateMs = 5 * pace.windowMs;
  let read: Promise<number>;
  beforeEach(() => {
    read = new Promise((resolve) => {
      frontListener.open(
        (request, response) => {
          setTimeout(async () => {
            let size = 0;
            for await (const chunk of request) size += chunk.length;
            response.setHeader("connection", "close").end("{}");
            resolve(size);
          }, lateMs);
        },
        async () => undefined,
      );
    });
  });

  test("is not taken for a slow one", async () => {
    const body = "x".repeat(500_000);
    const answer = await answerTo("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000", body);
    expect([answer.status, await read]).toEqual([200, 500_000]);
  });

  test("is not expected before 100 Continue", async () => {
    const socket = connect(port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    let text = "";
    const ended = new Promise((resolve) => socket.on("close", resolve));
    socket.setEncoding("utf8").on("data", (chunk) => {
      if (text === "") socket.write("hello");
      text += chunk;
    });
    await ended;
    expect(text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
    expect(await read).toBe(5);
  });
});
