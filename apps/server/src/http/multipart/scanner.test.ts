import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Busboy } from "@fastify/busboy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freeBuffer } from "../../kernel/free-buffer.ts";
import { malformedBody } from "./body-reader.ts";
import { collectForm } from "./collect-form.ts";
import { defaultLimits } from "./form.ts";
import { boundary, caseLimits, type Outcome, scanCases } from "./scan-cases.fixture.ts";
import { Malformed, Scanner } from "./scanner.ts";
import { type FormServer, outcomeOf, outcomeOfError, serveForms, swallow } from "./serve-forms.fixture.ts";

const limits = { ...defaultLimits, ...caseLimits };

/** A small generator of numbers with a seed, so that a failure can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function split(body: Buffer, next: (below: number) => number): Buffer[] {
  const longest = 1 + next(40);
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const size = 1 + next(longest);
    pieces.push(body.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

async function read(pieces: Buffer[], isStreaming: boolean, bounds = limits, cut = boundary): Promise<Outcome> {
  const left = [...pieces];
  const source = { isStreaming, more: async () => left.shift(), onFailure: undefined };
  return collectForm(new Scanner(cut, bounds), source, bounds, swallow)
    .then((entries) => outcomeOf({ kind: "form", entries }))
    .catch((error: unknown) => outcomeOfError(error instanceof Malformed ? malformedBody(error.message) : error));
}

it("keeps no view of a piece that it gives away whole: the receiver may free it", () => {
  const scanner = new Scanner(boundary, limits);
  const content = Buffer.from("freed as it comes \r\n--but all there".repeat(50));
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--`)]);
  const seen: Buffer[] = [];
  let freed = 0;
  for (let at = 0; at < body.length; at += 7) {
    // Each piece in memory of its own, as those of a request are.
    const piece = Buffer.allocUnsafeSlow(Math.min(7, body.length - at));
    body.copy(piece, 0, at);
    scanner.write(piece);
    for (let event = scanner.next(); event !== undefined; event = scanner.next()) {
      if (event.type !== "data") continue;
      seen.push(Buffer.from(event.chunk));
      freeBuffer(event.chunk);
      if (event.chunk.length === 0) freed++;
    }
  }
  scanner.finish();
  expect(Buffer.concat(seen).equals(content)).toBe(true);
  expect(freed).toBeGreaterThan(100);
});

describe("every case, whichever way the bytes come", () => {
  let buffered: FormServer;
  let streamed: FormServer;
  beforeAll(async () => {
    buffered = await serveForms(() => ({ onFile: swallow, limits: { ...caseLimits, bufferedBytes: 10_000_000 } }));
    streamed = await serveForms(() => ({ onFile: swallow, limits: { ...caseLimits, bufferedBytes: -1 } }));
  });
  afterAll(async () => {
    await buffered.close();
    await streamed.close();
  });

  async function post(server: FormServer, pieces: Buffer[], length?: number): Promise<Outcome> {
    const request = http.request({
      port: server.port,
      method: "POST",
      agent: false,
      headers: {
        "content-type": `multipart/form-data; boundary="${boundary}"`,
        ...(length !== undefined && { "content-length": length }),
      },
    });
    request.on("error", () => {});
    const answered = once(request, "response");
    for (const piece of pieces) {
      request.write(piece);
      if (pieces.length > 1) await sleep(0);
    }
    request.end();
    const [response] = await answered;
    return JSON.parse(await text(response));
  }

  it.each(scanCases)("$title", async ({ body, outcome }) => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
    expect(await post(buffered, [bytes], bytes.length), "one pass").toEqual(outcome);
    expect(await post(streamed, [bytes], bytes.length), "streamed, known length").toEqual(outcome);
    if (bytes.length < 2_000) {
      expect(await post(streamed, split(bytes, numbers(bytes.length))), "streamed, chunked").toEqual(outcome);
    }
    for (let seed = 1; seed <= (bytes.length < 2_000 ? 40 : 2); seed++) {
      const pieces = split(bytes, numbers(seed));
      expect(await read(pieces, true), `streamed, split ${seed}`).toEqual(outcome);
      expect(await read(pieces, false), `in memory, split ${seed}`).toEqual(outcome);
    }
    if (bytes.length < 2_000) {
      const single = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
      expect(await read(single, true), "byte by byte").toEqual(outcome);
    }
  });
});

describe("random forms", () => {
  const cut = "bOuNd";
  const pieces = [
    "\r",
    "\n",
    "\r\n",
    "-",
    "--",
    `--${cut}`,
    `\r\n--${cut.slice(0, 4)}`,
    "\r\n-",
    "a",
    "é",
    "\x01",
    " ",
  ];

  function randomForm(next: (below: number) => number) {
    const content = () => {
      let value = "";
      for (let i = next(12); i > 0; i--) value += pieces[next(pieces.length)];
      // Behind a line end, that of the headers included, the boundary is one.
      return `\r\n${value}`.includes(`\r\n--${cut}`) ? "" : value;
    };
    const parts = Array.from({ length: next(6) }, (_, i) => ({
      name: `n${i}`,
      isFile: next(2) === 1,
      value: content(),
    }));
    const encoded = parts.map(({ name, isFile, value }) => {
      const type = isFile ? '; filename="f"\r\nContent-Type: application/x-thing' : "";
      return `--${cut}\r\nContent-Disposition: form-data; name="${name}"${type}\r\n\r\n${value}\r\n`;
    });
    const expected = parts.map(({ name, isFile, value }) => [
      name,
      isFile ? `file:f:${Buffer.from(value).toString("latin1")}` : value,
    ]);
    return { bytes: Buffer.from(`${encoded.join("")}--${cut}--\r\n`), expected };
  }

  /** An independent reader, for the forms that both accept. */
  function readWithBusboy(bytes: Buffer): Promise<Map<string, string>> {
    return new Promise((resolve, reject) => {
      const found = new Map<string, string>();
      const busboy = new Busboy({ headers: { "content-type": `multipart/form-data; boundary=${cut}` } });
      busboy.on("field", (name, value) => found.set(name, value));
      busboy.on("file", (name, stream, filename) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => found.set(name, `file:${filename}:${Buffer.concat(chunks).toString("latin1")}`));
      });
      busboy.on("finish", () => resolve(found));
      busboy.on("error", reject);
      busboy.end(bytes);
    });
  }

  it("come out as they went in, however they are cut, and as another reader sees them", async () => {
    for (let seed = 1; seed <= 400; seed++) {
      const next = numbers(seed);
      const { bytes, expected } = randomForm(next);
      expect(await read([bytes], false, defaultLimits, cut), `seed ${seed}`).toEqual(expected);
      expect(await read(split(bytes, next), true, defaultLimits, cut), `seed ${seed}`).toEqual(expected);
      expect([...(await readWithBusboy(bytes))].sort(), `seed ${seed}`).toEqual([...expected].sort());
    }
  });

  it("damaged at random: both ways agree on what is wrong", async () => {
    let faults = 0;
    for (let seed = 1; seed <= 600; seed++) {
      const next = numbers(seed);
      const { bytes } = randomForm(next);
      const damaged = Buffer.from(bytes.subarray(0, next(4) === 0 ? next(bytes.length) : bytes.length));
      for (let i = next(4); i > 0 && damaged.length > 0; i--) damaged[next(damaged.length)] = next(256);
      const whole = await read([damaged], false, defaultLimits, cut);
      expect(await read(split(damaged, next), true, defaultLimits, cut), `seed ${seed}`).toEqual(whole);
      if (!Array.isArray(whole)) faults++;
    }
    expect(faults).toBeGreaterThan(100);
  });
});
