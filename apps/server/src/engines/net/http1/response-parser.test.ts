import { describe, expect, it } from "vitest";
import { NetError } from "../net.ts";
import { ResponseParser } from "./response-parser.ts";

/** Parses an answer in chunks of the given size. */
function readIn(pieceBytes: number, raw: string, { method = "GET", closed = false } = {}) {
  const answer = { status: 0, headers: {} as Record<string, unknown>, body: "", ended: false };
  const parser = new ResponseParser(
    {
      onHead: (status, headers) => Object.assign(answer, { status, headers }),
      onBody: (chunk) => {
        answer.body += chunk.toString("latin1");
      },
      onEnd: () => {
        answer.ended = true;
      },
    },
    1024,
  );
  const bytes = Buffer.from(raw, "latin1");
  // As a connection does it: into the same buffer, which still contains the end of the previous chunk.
  const buffer = Buffer.alloc(4096, "\r\n\r\n");
  parser.begin(method);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const size = bytes.copy(buffer, 0, at, at + pieceBytes);
    parser.read(buffer, size);
  }
  if (closed) parser.close();
  return { ...answer, reusable: parser.reusable, keepAliveMs: parser.keepAliveMs };
}

function failureOf(raw: string, options?: { method?: string; closed?: boolean }): string {
  const reasons = [1, 7, 4096].map((size) => {
    try {
      readIn(size, raw, options);
    } catch (error) {
      return error instanceof NetError ? error.reason : String(error);
    }
    return "none";
  });
  expect(new Set(reasons).size, reasons.join()).toBe(1);
  return String(reasons[0]);
}

/** With every chunk size. */
function read(raw: string, options?: { method?: string; closed?: boolean }) {
  const whole = readIn(4096, raw, options);
  for (const size of [1, 2, 3, 5, 8, 13]) expect(readIn(size, raw, options)).toEqual(whole);
  return whole;
}

describe("an answer", () => {
  it("ends with its length", () => {
    const answer = read("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-A:  a \r\nx-a: b\r\nX-A: c\r\n\r\nhello");
    expect(answer).toMatchObject({ status: 201, body: "hello", ended: true, reusable: true });
    expect(answer.headers["x-a"]).toEqual(["a", "b", "c"]);
  });

  it("ends with its last chunk, with extensions, capitals and trailers", () => {
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
    const body = `5;name="v"\r\nhello\r\n00A\r\n, the rest\r\n0\r\n`;
    expect(read(`${head}${body}\r\n`)).toMatchObject({ body: "hello, the rest", ended: true, reusable: true });
    expect(read(`${head}${body}Expires: never\r\nX-B: c\r\n\r\n`)).toMatchObject({ ended: true, reusable: true });
  });

  it("joins chunks that arrive together, and delivers them before an error in the next", () => {
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const chunks = Array.from({ length: 50 }, (_, n) => `token ${n} of the answer`);
    const framed = chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("");
    const pieces: string[] = [];
    let ended = false;
    const parser = new ResponseParser(
      {
        onHead: () => {},
        onBody: (chunk) => void pieces.push(chunk.toString("latin1")),
        onEnd: () => {
          ended = true;
        },
      },
      1024,
    );
    const readAll = (raw: string) => parser.read(Buffer.from(raw, "latin1"), raw.length);
    parser.begin("GET");
    readAll(`${head}${framed}0\r\n\r\n`);
    expect([pieces, ended]).toEqual([[chunks.join("")], true]);
    parser.begin("GET");
    expect(() => readAll(`${head}${framed}nonsense`)).toThrow(NetError);
    expect(pieces).toEqual([chunks.join(""), chunks.join("")]);
  });

  it("ends with the connection without a length", () => {
    expect(read("HTTP/1.1 200\r\n\r\nall of it", { closed: true })).toMatchObject({ body: "all of it", ended: true });
    expect(read("HTTP/1.0 200 OK\r\n\r\nopen")).toMatchObject({ body: "open", ended: false, reusable: false });
  });

  it("has no body after HEAD, with 204 and with 304", () => {
    const head = "\r\nContent-Length: 10\r\n\r\n";
    expect(read(`HTTP/1.1 200 OK${head}`, { method: "HEAD" })).toMatchObject({ body: "", ended: true, reusable: true });
    for (const status of [204, 304]) {
      expect(read(`HTTP/1.1 ${status} None${head}`)).toMatchObject({ status, ended: true, reusable: true });
    }
  });

  it("follows early hints", () => {
    const hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    expect(read(`${hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`)).toMatchObject({ status: 200, body: "ok" });
  });

  it("shows whether and for how long its connection can be reused", () => {
    const kept = (version: string, header: string) =>
      read(`HTTP/1.${version} 200 OK\r\nContent-Length: 0\r\n${header}\r\n`);
    expect(kept("1", "").reusable).toBe(true);
    expect(kept("1", "Connection: Close\r\n").reusable).toBe(false);
    expect(kept("1", "Connection: x, close\r\n").reusable).toBe(false);
    expect(kept("0", "").reusable).toBe(false);
    expect(kept("0", "Connection: keep-alive\r\n").reusable).toBe(true);
    expect(kept("1", "Keep-Alive: max=5, timeout=7\r\n").keepAliveMs).toBe(7000);
  });

  it("is the last of its connection if more bytes follow", () => {
    const forged = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother";
    expect(read(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${forged}`)).toMatchObject({
      body: "ok",
      reusable: false,
    });
    const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    expect(read(`${chunked}${forged}`)).toMatchObject({ body: "ok", reusable: false });
    expect(read(`HTTP/1.1 204 None\r\n\r\n${forged}`)).toMatchObject({ body: "", reusable: false });
  });

  it("with chunks and a length ends with the chunks and is the last of its connection", () => {
    const raw = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    expect(read(raw)).toMatchObject({ body: "ok", ended: true, reusable: false });
  });

  it("cannot change the prototype of its headers", () => {
    const raw = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n__proto__: x\r\n__proto__: y\r\nconstructor: z\r\n\r\n";
    const { headers } = read(raw);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(headers.constructor).toBe("z");
  });
});

describe("an invalid answer", () => {
  const ok = "HTTP/1.1 200 OK\r\n";

  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["another version", "HTTP/2 200 OK\r\n\r\n"],
    ["an unknown status class", "HTTP/1.1 99 Low\r\n\r\n"],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["a header without a colon", `${ok}nothing\r\n\r\n`],
    ["a folded header", `${ok}X-A: a\r\n b\r\n\r\n`],
    ["a space in a header's name", `${ok}Content-Length : 5\r\n\r\nhello`],
    ["a line feed in a header", `${ok}X-A: a\nContent-Length: 5\r\n\r\nhello`],
    ["a NUL in a header", `${ok}X-A: a\0b\r\n\r\n`],
    ["two lengths", `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
    ["a length that is not a number", `${ok}Content-Length: +5\r\n\r\nhello`],
    ["a transfer encoding that was not requested", `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ["chunked twice", `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ["a chunk without a size", `${ok}Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n`],
    ["a negative size", `${ok}Transfer-Encoding: chunked\r\n\r\n-1\r\n`],
    ["a size that is too large", `${ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n`],
    ["a space after a size", `${ok}Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n`],
    ["a chunk longer than its size", `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n`],
    ["a line feed alone after a size", `${ok}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n`],
    ["a line feed in an extension", `${ok}Transfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n`],
  ])("%s", (_, raw) => expect(failureOf(raw)).toBe("cut"));

  it.each([
    ["a head", ok],
    ["a length", `${ok}Content-Length: 5\r\n\r\nhell`],
    ["a chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`],
    ["the last chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`],
    ["the trailers", `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n`],
  ])("%s without its end", (_, raw) => expect(failureOf(raw, { closed: true })).toBe("cut"));

  it.each([
    ["headers", `${ok}X-A: ${"a".repeat(2000)}\r\n\r\n`],
    ["headers without an end", `${ok}X-A: ${"a".repeat(2000)}`],
    ["an extension of a chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n5;${"a".repeat(2000)}`],
    [
      "extensions of many chunks",
      `${ok}Transfer-Encoding: chunked\r\n\r\n${`1;${"a".repeat(99)}\r\nx\r\n`.repeat(30)}`,
    ],
    ["trailers", `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${"X-A: a\r\n".repeat(300)}`],
    ["hints", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n".repeat(100)],
  ])("%s longer than allowed", (_, raw) => expect(failureOf(raw)).toBe("too_large"));
});
