import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createNet, type NetOptions } from "./create-net.ts";
import { AddressRefused, type Net, NetError, type NetFailure } from "./net.ts";
import { selfSigned } from "./self-signed.fixture.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(http.createServer(listener));
/** A server that sends raw bytes. */
const serveRaw = (listener: (socket: Socket) => void) => listen(net.createServer(listener));

function netWith(options: Partial<NetOptions> = {}): Net {
  const made = createNet({ allowPrivateNetwork: true, ...options });
  closers.push(() => made.close());
  return made;
}

async function failure(promise: Promise<unknown>): Promise<NetFailure> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NetError);
  return (error as NetError).reason;
}

describe("addresses", () => {
  it("refuses literal private addresses and names that resolve to them, at connect", async () => {
    let hits = 0;
    const port = await serve((_, res) => {
      hits++;
      res.end("secret");
    });
    const guarded = netWith({ allowPrivateNetwork: false });
    const hosts = ["127.0.0.1", "localhost", "LOCALHOST", "127.1", "0x7f.0.0.1", "2130706433", "0", "[::1]"];
    for (const host of [...hosts, "[::ffff:127.0.0.1]", "[::]"]) {
      const call = guarded.request({ url: `http://${host}:${port}/` });
      await expect(call, host).rejects.toBeInstanceOf(AddressRefused);
      await expect(guarded.download(`http://${host}:${port}/`, { maxBytes: 10 }), host).rejects.toBeInstanceOf(
        AddressRefused,
      );
    }
    expect(hits).toBe(0);
  });

  it("reaches only the private origin that the operator set", async () => {
    const port = await serve((_, res) => res.end("mine"));
    const other = await serve((_, res) => res.end("other"));
    const guarded = netWith({ allowPrivateNetwork: false, exempt: [`http://localhost:${port}/v1`] });
    const { body } = await guarded.request({ url: `http://localhost:${port}/any` });
    expect(await body.text()).toBe("mine");
    expect(await failure(guarded.request({ url: `http://127.0.0.1:${port}/` }))).toBe("address_refused");
    expect(await failure(guarded.request({ url: `http://localhost:${other}/` }))).toBe("address_refused");
  });

  it("never applies the operator's exemption to a redirect, even over an open connection", async () => {
    const inner = await serve((_, res) => res.end("inner"));
    const outer = await serve((_, res) => res.writeHead(302, { location: `http://localhost:${inner}/` }).end());
    const exempt = [`http://127.0.0.1:${outer}`, `http://localhost:${inner}`];
    const guarded = netWith({ allowPrivateNetwork: false, exempt });
    expect(await (await guarded.request({ url: `http://localhost:${inner}/` })).body.text()).toBe("inner");
    expect(await failure(guarded.download(`http://127.0.0.1:${outer}/`, { maxBytes: 100 }))).toBe("address_refused");
  });

  it.each([
    "ftp://example.com/a",
    "file:///etc/passwd",
    "javascript:1",
    "http://user@example.com/",
    "http://user:pw@example.com/",
    "http://",
    "no address",
  ])("refuses %.60s before anything is sent", async (url) => {
    expect(await failure(netWith().request({ url }))).toBe("invalid_url");
  });

  it("reports an address that is too long", async () => {
    const url = `http://example.com/${"a".repeat(8192)}`;
    await expect(netWith().request({ url })).rejects.toThrow("The address has more than 8192 characters");
  });
});

describe("request", () => {
  it("sends method, headers and body, reads the answer, and keeps the connection", async () => {
    let connections = 0;
    const server = http.createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on("data", (chunk) => chunks.push(chunk));
      req.on("end", () => {
        res.writeHead(201, { "content-type": "application/json", "x-method": req.method ?? "" });
        res.end(JSON.stringify({ got: Buffer.concat(chunks).toString(), key: req.headers["x-key"] }));
      });
    });
    server.on("connection", () => connections++);
    const url = `http://127.0.0.1:${await listen(server)}/p?q=1`;
    const net = netWith();
    for (let i = 0; i < 20; i++) {
      const answer = await net.request({ url, method: "POST", headers: { "x-key": "k" }, body: "hello" });
      expect([answer.status, answer.headers["x-method"]]).toEqual([201, "POST"]);
      expect(await answer.body.json()).toEqual({ got: "hello", key: "k" });
    }
    // The second call may come before the first connection is marked as free.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it("does not follow redirects", async () => {
    const port = await serve((_, res) => res.writeHead(302, { location: "/elsewhere" }).end());
    const answer = await netWith().request({ url: `http://127.0.0.1:${port}/` });
    expect(answer.status).toBe(302);
    await answer.body.dump();
  });

  it("ends an oversized answer, with or without a declared length", async () => {
    const port = await serve((req, res) => {
      if (req.url === "/declared") res.setHeader("content-length", 5_000_000);
      res.write(Buffer.alloc(2_500_000));
      res.end(Buffer.alloc(2_500_000));
    });
    for (const path of ["/declared", "/chunked"]) {
      const read = async () => {
        const answer = await netWith().request({
          url: `http://127.0.0.1:${port}${path}`,
          bounds: { maxBytes: 1_000_000 },
        });
        await answer.body.bytes();
      };
      expect(await failure(read())).toBe("too_large");
    }
    expect(await failure(netWith().download(`http://127.0.0.1:${port}/declared`, { maxBytes: 1_000 }))).toBe(
      "too_large",
    );
  });

  it("ends a slow answer by its total time and a stalled one by its idle time", async () => {
    const port = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nx");
      const drip = setInterval(() => socket.write("x"), 20);
      socket.on("close", () => clearInterval(drip));
    });
    const started = Date.now();
    const call = await netWith().request({ url: `http://127.0.0.1:${port}/`, bounds: { totalMs: 300 } });
    expect(await failure(call.body.text())).toBe("timeout");
    expect(Date.now() - started).toBeLessThan(15_000);

    const stalled = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx"));
    const answer = await netWith().request({ url: `http://127.0.0.1:${stalled}/`, bounds: { idleMs: 200 } });
    expect(await failure(answer.body.text())).toBe("timeout");
  });

  it("ends headers that never come, are slow, or are too long", async () => {
    const silent = await serveRaw(() => {});
    expect(await failure(netWith().request({ url: `http://127.0.0.1:${silent}/`, bounds: { headersMs: 200 } }))).toBe(
      "timeout",
    );
    const dripping = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket.write("x-a: 1\r\n"), 20);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await failure(netWith().request({ url: `http://127.0.0.1:${dripping}/`, bounds: { headersMs: 300 } }))).toBe(
      "timeout",
    );
    const long = await serveRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\nx-long: ${"a".repeat(100_000)}\r\n\r\n`));
    expect(await failure(netWith().request({ url: `http://127.0.0.1:${long}/` }))).toBe("too_large");
  });

  it("reports an incomplete answer, and one that is not HTTP", async () => {
    const half = await serveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"));
    const answer = await netWith().request({ url: `http://127.0.0.1:${half}/` });
    expect(await failure(answer.body.text())).toBe("cut");
    const chunked = await serveRaw((s) => s.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"));
    expect(await failure((await netWith().request({ url: `http://127.0.0.1:${chunked}/` })).body.text())).toBe("cut");
    const noise = await serveRaw((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
    expect(await failure(netWith().request({ url: `http://127.0.0.1:${noise}/` }))).toBe("cut");
  });

  it("reports a closed port, an unknown host and an untrusted certificate", async () => {
    const port = await serve(() => {});
    await closers.pop()?.();
    expect(await failure(netWith().request({ url: `http://127.0.0.1:${port}/` }))).toBe("unreachable");
    expect(await failure(netWith().request({ url: "http://no-such-host.invalid/" }))).toBe("unreachable");
    const plain = await serve((_, res) => res.end("no"));
    expect(await failure(netWith().request({ url: `https://localhost:${plain}/` }))).toBe("unreachable");
    const secure = await listen(https.createServer(selfSigned, (_, res) => res.end("no")));
    expect(await failure(netWith().request({ url: `https://localhost:${secure}/` }))).toBe("unreachable");
  });

  it("stops at once when aborted before, while connecting, while waiting, and during the body", async () => {
    const reason = new Error("the client left");
    let live = 0;
    const port = await serve((req, res) => {
      live++;
      res.on("close", () => live--);
      if (req.url === "/body") res.write("begun");
    });
    const net = netWith({ maxConnectionsPerOrigin: 1 });
    const url = `http://127.0.0.1:${port}`;
    await expect(net.request({ url, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

    const waiting = new AbortController();
    const first = net.request({ url: `${url}/silent`, signal: waiting.signal });
    // The second call waits for the only connection; it must not wait for the first to end.
    const queued = new AbortController();
    const second = net.request({ url: `${url}/queued`, signal: queued.signal });
    setTimeout(() => queued.abort(reason), 50);
    await expect(second).rejects.toBe(reason);
    waiting.abort(reason);
    await expect(first).rejects.toBe(reason);

    const reading = new AbortController();
    const { body } = await net.request({ url: `${url}/body`, signal: reading.signal });
    reading.abort(reason);
    await expect(body.text()).rejects.toBe(reason);
    await expect.poll(() => live).toBe(0);
  });

  it("bounds the number of origins and finishes calls of a closed one", async () => {
    const net = netWith({ maxOrigins: 2 });
    let answerSlow: (() => void) | undefined;
    let open = 0;
    const make = async () => {
      const server = http.createServer((req, res) => {
        if (req.url === "/slow") answerSlow = () => res.end("slow");
        else res.end("ok");
      });
      server.on("connection", (socket) => {
        open++;
        socket.on("close", () => open--);
      });
      return `http://127.0.0.1:${await listen(server)}`;
    };
    const slow = net.request({ url: `${await make()}/slow` });
    await expect.poll(() => answerSlow).toBeDefined();
    for (let i = 0; i < 6; i++) await (await net.request({ url: await make() })).body.text();
    await expect.poll(() => open).toBeLessThanOrEqual(3);
    answerSlow?.();
    expect(await (await slow).body.text()).toBe("slow");
  });
});

describe("dispatch", () => {
  it("delivers bytes as they arrive, can pause, and ends with a NetError", async () => {
    const port = await serve((req, res) => {
      if (req.url === "/cut") {
        res.writeHead(200, { "content-length": 10 });
        res.write("abc", () => res.destroy());
      } else res.end("streamed");
    });
    const run = (path: string, maxBytes = 100) =>
      new Promise<string>((resolve) => {
        let text = "";
        netWith().dispatch(
          { url: `http://127.0.0.1:${port}${path}`, bounds: { maxBytes } },
          {
            onResponseStart: (control, status) => {
              text += `${status}:`;
              control.pause();
              setTimeout(() => control.resume(), 20);
            },
            onResponseData: (_, chunk) => {
              text += chunk.toString();
            },
            onResponseEnd: () => resolve(`${text}:end`),
            onResponseError: (error) => resolve(`${text}:${error instanceof NetError ? error.reason : "?"}`),
          },
        );
      });
    expect(await run("/")).toBe("200:streamed:end");
    expect(await run("/cut")).toBe("200:abc:cut");
    expect(await run("/", 3)).toBe("200::too_large");
  });

  it("reports a refused address to the handler", async () => {
    const guarded = netWith({ allowPrivateNetwork: false });
    for (const url of ["http://localhost:9/", "http://127.0.0.1:9/", "ftp://x"]) {
      const error = await new Promise<Error>((resolve) => {
        guarded.dispatch(
          { url },
          { onResponseStart() {}, onResponseData() {}, onResponseEnd() {}, onResponseError: resolve },
        );
      });
      expect(error).toBeInstanceOf(NetError);
    }
  });
});

describe("download", () => {
  const text = async (stream: AsyncIterable<Buffer>) => {
    let all = "";
    for await (const chunk of stream) all += chunk.toString();
    return all;
  };

  it("follows three redirects, relative ones too, and not a fourth", async () => {
    const port = await serve((req, res) => {
      const left = Number(req.url?.slice(1));
      if (left > 0) res.writeHead(302, { location: `/${left - 1}` }).end("moved");
      else res.setHeader("content-type", "image/png").end("bytes");
    });
    const net = netWith();
    const got = await net.download(`http://127.0.0.1:${port}/3`, { maxBytes: 100 });
    expect([await text(got.body), got.contentType, got.filename]).toEqual(["bytes", "image/png", "0"]);
    expect(await failure(net.download(`http://127.0.0.1:${port}/4`, { maxBytes: 100 }))).toBe("too_many_redirects");
  });

  it("ends a redirect loop, refuses a redirect to another protocol, and any status but 200", async () => {
    const port = await serve((req, res) => {
      if (req.url === "/loop") res.writeHead(301, { location: "/loop" }).end();
      else if (req.url === "/file") res.writeHead(302, { location: "file:///etc/passwd" }).end();
      else if (req.url === "/user") res.writeHead(302, { location: `http://a:b@127.0.0.1:${port}/` }).end();
      else if (req.url === "/nowhere") res.writeHead(302, { location: "http://" }).end();
      else res.writeHead(404).end("not here");
    });
    const get = (path: string) => failure(netWith().download(`http://127.0.0.1:${port}${path}`, { maxBytes: 100 }));
    expect(await get("/loop")).toBe("too_many_redirects");
    expect(await get("/file")).toBe("invalid_url");
    expect(await get("/user")).toBe("invalid_url");
    expect(await get("/nowhere")).toBe("invalid_url");
    expect(await get("/missing")).toBe("status");
  });

  it("counts the time over all redirects together", async () => {
    const port = await serve((_, res) => {
      setTimeout(() => res.writeHead(302, { location: "/again" }).end(), 150);
    });
    const call = netWith().download(`http://127.0.0.1:${port}/`, { maxBytes: 100, totalMs: 250 });
    expect(await failure(call)).toBe("timeout");
  });

  it("takes the file name from the server, without directories", async () => {
    const port = await serve((_, res) => {
      res.setHeader("content-disposition", 'attachment; filename="../../etc/cat.png"');
      res.end("x");
    });
    const got = await netWith().download(`http://127.0.0.1:${port}/a/b`, { maxBytes: 100 });
    expect(got.filename).toBe("cat.png");
    expect(await text(got.body)).toBe("x");
  });
});
