import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNet } from "../../../engines/net/create-net.ts";
import { httpRequestTool } from "./http-request.ts";
import { builtinTool, calling, execute, scopeOf } from "./run-scope.fixture.ts";

const open = createNet({ allowPrivateNetwork: true });
const guarded = createNet({ allowPrivateNetwork: false });
/** Without secrets; test/front-door/runs/fixed-headers.test.ts tests those. */
const secrets = {
  reveal: () => {
    throw new Error("no secret is asked for");
  },
};
const tool = httpRequestTool(builtinTool("http_request"), { net: open, secrets }, scopeOf("usr_1"));
afterAll(() => Promise.all([open.close(), guarded.close()]));

const servers: { server: Server; sockets: Set<Socket> }[] = [];
const seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
beforeEach(() => seen.splice(0));
afterEach(() => {
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  servers.push({ server, sockets });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (answer: RequestListener) =>
  listen(
    http.createServer(async (request, response) => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body: await text(request) });
      answer(request, response);
    }),
  );

const get = (url: string, more: Record<string, unknown> = {}) => execute(tool, { method: "GET", url, ...more });

describe("the answer", () => {
  test("contains status, some headers and the text", async () => {
    const url = await serve((_, response) => {
      response.writeHead(201, {
        "content-type": "text/plain; charset=utf-8",
        "set-cookie": "session=1",
        "x-internal": "y",
        "x-ratelimit-remaining": "3",
        etag: '"a"',
      });
      response.end("grüße");
    });
    const { text: said, isError } = await get(`${url}/a?b=c`);
    expect(isError).toBe(false);
    expect(said).toMatch(/^HTTP 201 Created\n/);
    expect(said).toMatch(/\n\ngrüße$/);
    expect(said).toContain('etag: "a"');
    expect(said).toContain("x-ratelimit-remaining: 3");
    expect(said).not.toMatch(/session|x-internal/);
    expect(seen[0]).toMatchObject({ method: "GET", url: "/a?b=c" });
  });

  test("with an error status is a result; redirects are not followed", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/secret" }).end();
      else response.writeHead(503, { "retry-after": "7" }).end("busy");
    });
    expect(await get(url)).toEqual({
      text: expect.stringMatching(/^HTTP 503 .*\n.*retry-after: 7[\s\S]*busy$/),
      isError: false,
    });
    expect((await get(`${url}/moved`)).text).toMatch(/^HTTP 302 Found\nlocation: \/secret[\s\S]*\(no body\)$/);
    expect(seen.map(({ url: path }) => path)).toEqual(["/", "/moved"]);
  });

  test("is truncated, and the rest is not fetched", async () => {
    let isCut = false;
    const url = await serve((request, response) => {
      response.on("close", () => {
        isCut = !response.writableFinished;
      });
      if (request.url === "/long") return void response.end("ü".repeat(50_000));
      const more = () => {
        while (response.write("z".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    });
    const { text: long } = await get(`${url}/long`);
    expect(long).toMatch(/ü\n\n\[cut: the whole has 100000 bytes, these are the first 64000\]$/);
    expect(Buffer.byteLength(long)).toBeLessThan(65_536);
    expect((await get(`${url}/endless`)).text).toMatch(/z\n\n\[cut: there is more, these are the first 64000\]$/);
    await expect.poll(() => isCut).toBe(true);
  });

  test("that is binary is described", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]);
    const url = await serve((request, response) => {
      if (request.url === "/png") response.writeHead(200, { "content-type": "image/png" }).end(bytes);
      else if (request.url === "/gzip") response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("hello"));
      else if (request.url === "/big") response.end(Buffer.alloc(100_000));
      else if (request.url === "/latin")
        response.writeHead(200, { "content-type": "text/html; charset=iso-8859-1" }).end(Buffer.from("für", "latin1"));
      else if (request.url === "/odd") response.writeHead(200, { "content-type": "text/a; charset=odd" }).end(bytes);
      else response.end();
    });
    expect((await get(`${url}/png`)).text).toMatch(/\[binary: image\/png, 8 bytes\]$/);
    expect((await get(`${url}/gzip`)).text).toMatch(/\[binary: unknown type, 25 bytes\]$/);
    expect((await get(`${url}/big`)).text).toMatch(/\[binary: unknown type, 100000 bytes\]$/);
    expect((await get(`${url}/latin`)).text).toMatch(/für$/);
    expect((await get(`${url}/odd`)).text).toMatch(/\[binary: text\/a; charset=odd, 8 bytes\]$/);
    expect((await get(url)).text).toMatch(/\(no body\)$/);
    const { text: head } = await execute(tool, { method: "HEAD", url: `${url}/png` });
    expect(head).toMatch(/^HTTP 200 OK\ncontent-type: image\/png/);
    expect(head).not.toContain("body");
  });

  test("has bounded headers", async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { link: "l".repeat(5000), location: "x".repeat(5000), etag: "e".repeat(900) }).end("ok");
    });
    expect((await get(url)).text.length).toBeLessThan(1500);
  });
});

describe("the request", () => {
  test("has the given headers and body, without headers of the connection", async () => {
    const url = await serve((_, response) => response.end());
    await execute(tool, {
      method: "POST",
      url,
      headers: {
        Host: "evil.example",
        "Content-Length": "1",
        Connection: "close",
        "Transfer-Encoding": "chunked",
        "Proxy-Authorization": "x",
        Expect: "100-continue",
        Upgrade: "websocket",
        "Accept-Encoding": "gzip",
        "X-Own": "1",
        Authorization: "Bearer t",
      },
      body: '{"a":1}',
    });
    const [request] = seen;
    expect(request?.body).toBe('{"a":1}');
    expect(request?.headers).toMatchObject({
      host: url.slice("http://".length),
      "content-length": "7",
      "content-type": "application/json",
      "x-own": "1",
      authorization: "Bearer t",
      "user-agent": "Gantry",
    });
    for (const name of ["transfer-encoding", "proxy-authorization", "expect", "upgrade", "accept-encoding"]) {
      expect(request?.headers).not.toHaveProperty(name);
    }
  });

  test("gets a content type if the model sets none", async () => {
    const url = await serve((_, response) => response.end());
    await execute(tool, { method: "PUT", url, body: "plain words" });
    await execute(tool, {
      method: "PATCH",
      url,
      body: "a=1",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await execute(tool, { method: "DELETE", url, headers: { __proto__x: "1", constructor: "2" } });
    expect(seen.map(({ headers }) => headers["content-type"])).toEqual([
      "text/plain; charset=utf-8",
      "application/x-www-form-urlencoded",
      undefined,
    ]);
    expect(seen[2]?.headers).toMatchObject({ constructor: "2" });
  });

  test("does not show the names of headers that another user fixed", async () => {
    const given = { method: "GET", url: "http://127.0.0.1:1", headers: { "bad TOKEN": "1" } };
    const { text: said } = await tool.execute({ ...calling(given), hidden: ["headers"] });
    expect(said).toMatch(/^A header that the agent's creator fixed cannot be sent/);
    expect(said).not.toContain("TOKEN");
  });

  test.each([
    [{ "x-a": "1\r\nx-b: 2" }],
    [{ "x-a": "1\n2" }],
    [{ "x-a\r\n": "1" }],
    [{ "bad name": "1" }],
    [{ "": "1" }],
    [{ "x-a": "snow ☃" }],
    [{ "x-a": "1\0" }],
  ])("is not sent with the header %j", async (headers) => {
    const url = await serve((_, response) => response.end());
    expect(await get(url, { headers })).toEqual({
      text: expect.stringMatching(/^The header .* cannot be sent/),
      isError: true,
    });
    expect(seen).toEqual([]);
  });

  test("has a bounded number and length of headers", async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x-${n}`, "1"]));
    expect(await get("http://127.0.0.1:1", { headers: many })).toMatchObject({ isError: true });
    expect(await get("http://127.0.0.1:1", { headers: { "x-a": "y".repeat(20_000) } })).toMatchObject({
      isError: true,
    });
  });
});

describe("failures", () => {
  test("private addresses are refused in any notation", async () => {
    const url = await serve((_, response) => response.end("secret"));
    const port = new URL(url).port;
    const own = httpRequestTool(builtinTool("http_request"), { net: guarded, secrets }, scopeOf("usr_1"));
    for (const host of ["127.0.0.1", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"]) {
      const outcome = await execute(own, { method: "GET", url: `http://${host}:${port}/` });
      expect(outcome).toEqual({
        text: expect.stringMatching(
          /not on the public network\. .*: add .* to GANTRY_ALLOW_PRIVATE_NETWORK\. Only public/,
        ),
        isError: true,
      });
    }
    expect(await execute(own, { method: "GET", url: "http://169.254.169.254/latest/meta-data" })).toMatchObject({
      isError: true,
    });
    expect(seen).toEqual([]);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://a.example/",
    "http://user:pass@a.example/",
    "nonsense",
    "",
    "http://",
    "gopher://a",
  ])("invalid address: %s", async (url) => {
    const outcome = await get(url);
    expect(outcome).toEqual({ text: expect.stringMatching(/Use an http or https address/), isError: true });
  });

  test("no server, an incomplete answer, an answer that is not HTTP", async () => {
    expect(await get("http://127.0.0.1:1/")).toMatchObject({
      isError: true,
      text: expect.stringMatching(/could not be reached/),
    });
    const cut = await listen(
      net.createServer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.destroy());
      }),
    );
    expect(await execute(tool, { method: "POST", url: cut, body: "x" })).toEqual({
      text: "The request failed: The server's answer is incomplete. Whether the server acted on it is unknown. Check before you repeat it.",
      isError: true,
    });
    const odd = await listen(net.createServer((socket) => void socket.end("SSH-2.0-OpenSSH\r\n")));
    const { text: said, isError } = await get(odd);
    expect(isError).toBe(true);
    expect(said).not.toMatch(/undici|HTTPParser|Error:|node:/i);
  });

  test("a timeout before the headers or within the body", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/slow") response.write("x");
    });
    const hurried = httpRequestTool(
      builtinTool("http_request"),
      { net: open, secrets, limitMs: 300 },
      scopeOf("usr_1"),
    );
    for (const path of ["/", "/slow"]) {
      expect(await execute(hurried, { method: "GET", url: url + path })).toEqual({
        text: "The request failed: The server did not answer in time. Try again later.",
        isError: true,
      });
    }
  });

  test("an abort rejects with its reason and ends the call", async () => {
    let closed = false;
    const url = await serve((_, response) => {
      response.on("close", () => {
        closed = true;
      });
    });
    const controller = new AbortController();
    const call = execute(tool, { method: "GET", url }, controller.signal);
    await expect.poll(() => seen.length).toBe(1);
    controller.abort(new Error("cancelled"));
    await expect(call).rejects.toThrow("cancelled");
    await expect.poll(() => closed).toBe(true);
  });
});
