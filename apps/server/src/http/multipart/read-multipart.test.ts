import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { OnFile } from "./form.ts";
import type { ReadMultipartOptions } from "./read-multipart.ts";
import { type FormServer, serveForms, swallow } from "./serve-forms.fixture.ts";

const servers: FormServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(options: Partial<ReadMultipartOptions<string>> = {}): Promise<FormServer> {
  const server = await serveForms(() => ({ onFile: swallow, ...options }));
  servers.push(server);
  return server;
}

const head = (length: number | "chunked", type = "multipart/form-data; boundary=cut") =>
  `POST / HTTP/1.1\r\nhost: x\r\n${type ? `content-type: ${type}\r\n` : ""}${
    length === "chunked" ? "transfer-encoding: chunked" : `content-length: ${length}`
  }\r\n\r\n`;
const field = (name: string, value: string) =>
  `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const fileHead = (name: string) =>
  `--cut\r\nContent-Disposition: form-data; name="${name}"; filename="f.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
const malformed = { type: "multipart_invalid", loc: ["body"] };

/** What the server sends until it has said `marker`, or closes. */
async function answer(socket: Socket, marker = "\r\n\r\n"): Promise<string> {
  let all = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    all += chunk;
    const body = all.indexOf("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(all)?.[1] ?? 0);
    if (all.includes(marker) && body !== -1 && all.length >= body + 4 + length) break;
  }
  return all;
}

async function exchange(server: FormServer, bytes: string): Promise<string> {
  const socket = await server.connect();
  socket.write(bytes);
  const said = await answer(socket);
  socket.destroy();
  return said;
}

describe("not multipart", () => {
  it.each(["application/json", "application/x-www-form-urlencoded", "", "multipart/mixed; boundary=cut", "text/plain"])(
    "tells %s apart and keeps the connection for the next request",
    async (type) => {
      const server = await serve();
      const socket = await server.connect();
      const json = '{"prompt": "a cat"}';
      socket.write(head(json.length, type) + json);
      expect(await answer(socket)).toContain("not-multipart");
      const form = `${field("a", "1")}--cut--`;
      socket.write(head(form.length) + form);
      expect(await answer(socket)).toContain('[["a","1"]]');
      socket.destroy();
    },
  );

  it("answers before an endless body has come, stops reading it, and closes", async () => {
    const server = await serve();
    const socket = await server.connect();
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(head(10_000_000_000, "application/json"));
    let sent = 0;
    const block = Buffer.alloc(65_536, 120);
    const push = () => {
      while (!socket.destroyed && sent < 200_000_000) {
        sent += block.length;
        if (!socket.write(block)) return;
      }
    };
    socket.on("drain", push);
    push();
    expect(await answer(socket)).toContain("not-multipart");
    await closed;
    // What the kernel's buffers took, not what the client would have sent.
    expect(sent).toBeLessThan(50_000_000);
  });
});

describe("the boundary", () => {
  it.each([
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary=""',
    `multipart/form-data; boundary=${"x".repeat(71)}`,
    'multipart/form-data; boundary="a\\"b"',
    "multipart/form-data; boundary=a; boundary=b",
  ])("refuses %s", async (type) => {
    const server = await serve();
    const form = `${field("a", "1")}--cut--`;
    expect(await exchange(server, head(form.length, type) + form)).toContain("422");
    expect(await server.outcomes[0]).toEqual(malformed);
  });

  it.each(['Multipart/Form-Data; charset=utf-8; Boundary="cut"', "multipart/form-data ;boundary=cut;"])(
    "understands %s",
    async (type) => {
      const server = await serve();
      const form = `${field("a", "1")}--cut--`;
      expect(await exchange(server, head(form.length, type) + form)).toContain('[["a","1"]]');
    },
  );
});

describe("a small body of known length", () => {
  const form = `${field("a", "1")}${fileHead("f")}bytes\r\n--cut--`;

  it.each([0, 1, 40, form.length - 1])("comes whole although %i bytes came first", async (first) => {
    const server = await serve();
    const socket = await server.connect();
    socket.setNoDelay(true);
    for (let request = 0; request < 3; request++) {
      socket.write(head(form.length) + form.slice(0, first));
      await sleep(20);
      socket.write(form.slice(first));
      expect(await answer(socket)).toContain('[["a","1"],["f","file:f.bin:bytes"]]');
    }
    socket.destroy();
  });

  it("can follow another on the same connection, sent ahead", async () => {
    const server = await serve();
    const socket = await server.connect();
    socket.write(`${head(form.length)}${form}`.repeat(5));
    let all = "";
    while (all.split("file:f.bin").length < 6) all += await answer(socket, "file:f.bin");
    expect(await Promise.all(server.outcomes)).toEqual(
      Array.from({ length: 5 }, () => [
        ["a", "1"],
        ["f", "file:f.bin:bytes"],
      ]),
    );
    socket.destroy();
  });
});

describe("clients that do not keep to it", () => {
  it.each([100, 1_000_000])("half a body of %i bytes, then gone", async (length) => {
    const server = await serve();
    const socket = await server.connect();
    socket.write(head(length) + field("a", "1"));
    await expect.poll(() => server.outcomes.length).toBe(1);
    socket.destroy();
    expect(await server.outcomes[0]).toEqual(malformed);
  });

  it("half a body, then only its own side closed", async () => {
    const server = await serve();
    const socket = await server.connect();
    socket.end(head(1_000) + field("a", "1"));
    await answer(socket);
    expect(await server.outcomes[0]).toEqual(malformed);
  });

  it("a length shorter than the body", async () => {
    const server = await serve();
    const form = `${field("a", "1")}--cut--`;
    await exchange(server, head(form.length - 3) + form);
    expect(await server.outcomes[0]).toEqual(malformed);
  });

  it("stops at the first fault and does not read the rest of a long body", async () => {
    const server = await serve();
    const socket = await server.connect();
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(head(5_000_000_000) + field("a", "1").repeat(40));
    expect(await answer(socket)).toContain("too_many_fields");
    await closed;
  });
});

describe("files", () => {
  const big = (size: number) => `${fileHead("f")}${"x".repeat(size)}\r\n${field("a", "1")}--cut--`;

  it("makes the client wait for a slow receiver: memory does not grow with the file", async () => {
    let reading: Readable | undefined;
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const onFile: OnFile<string> = async ({ body }) => {
      if (!(body instanceof Readable)) throw new Error("not streamed");
      reading = body;
      await held;
      let size = 0;
      for await (const chunk of body) size += chunk.length;
      return String(size);
    };
    const server = await serve({ onFile });
    const socket = await server.connect();
    const form = big(60_000_000);
    socket.write(head(form.length) + form);
    await sleep(300);
    expect(reading?.readableLength).toBeLessThan(1_000_000);
    // The client's own kernel and ours hold some; most of it was not taken.
    expect(socket.writableLength).toBeGreaterThan(40_000_000);
    release();
    expect(await answer(socket)).toContain('[["f","60000000"],["a","1"]]');
    socket.destroy();
  });

  it("hands over a second file only when the first was taken", async () => {
    const order: string[] = [];
    const onFile: OnFile<string> = async (file) => {
      order.push(`begin ${file.name}`);
      const result = await swallow(file);
      await sleep(20);
      order.push(`end ${file.name}`);
      return result;
    };
    const server = await serve({ onFile, limits: { bufferedBytes: 0 } });
    const form = `${fileHead("f")}1\r\n${fileHead("g")}2\r\n--cut--`;
    expect(await exchange(server, head(form.length) + form)).toContain('[["f","file:f.bin:1"],["g","file:f.bin:2"]]');
    expect(order).toEqual(["begin f", "end f", "begin g", "end g"]);
  });

  it("goes on when a receiver stops reading early", async () => {
    const onFile: OnFile<string> = async ({ body }) => {
      if (body instanceof Readable) body.destroy();
      return "enough";
    };
    const server = await serve({ onFile });
    const form = big(500_000);
    expect(await exchange(server, head(form.length) + form)).toContain('[["f","enough"],["a","1"]]');
  });

  it("ends a receiver's stream with an error when the client goes, and waits for it", async () => {
    let cleaned = false;
    const onFile: OnFile<string> = async ({ body }) => {
      try {
        for await (const _ of body as Readable);
        return "whole";
      } finally {
        await sleep(20);
        cleaned = true;
      }
    };
    const server = await serve({ onFile });
    const socket = await server.connect();
    socket.write(head(10_000_000) + big(500_000).slice(0, 400_000));
    await expect.poll(() => server.outcomes.length).toBe(1);
    socket.destroy();
    expect(await server.outcomes[0]).toEqual(malformed);
    expect(cleaned).toBe(true);
  });

  it("stops at once when the caller aborts, also while a receiver does not read", async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    let seen: unknown;
    const onFile: OnFile<string> = async ({ body }) => {
      await new Promise((resolve) => (body as Readable).on("close", resolve));
      seen = (body as Readable).errored;
      throw new Error("cleaned up");
    };
    const server = await serve({ onFile, signal: stop.signal });
    const socket = await server.connect();
    const form = big(5_000_000);
    socket.write(head(form.length) + form);
    await expect.poll(() => server.outcomes.length).toBe(1);
    await sleep(50);
    const ended = expect(server.outcomes[0]).rejects.toThrow();
    stop.abort(reason);
    await ended;
    expect(seen).toBe(reason);
    socket.destroy();
  });
});
