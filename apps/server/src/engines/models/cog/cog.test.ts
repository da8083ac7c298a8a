import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectSchema } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { Interrupted } from "../driver.ts";
import {
  bytesOf,
  callWith,
  faultOf,
  fileInput,
  imageField,
  inputFields,
  mediaBackendContract,
  png,
  secret,
  textField,
} from "../media/backend.contract.ts";
import { type CogServer, startCog } from "../test-upstreams/cog-server.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { createCog } from "./cog.ts";

describe("cog", () => {
  mediaBackendContract({
    start: () => startCog(),
    create: (options) => createCog({ ...options, input: inputFields, output: imageField }),
    forms: ["base64", "link"],
    around: (text) => ({ status: "succeeded", output: `data:image/png;base64,${text}` }),
  });

  let net: Net;
  let upstream: CogServer;
  let spoolFolder: string;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startCog();
    upstream.made.bytes = png;
    spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
    await rm(spoolFolder, { recursive: true });
  });

  const driver = (output: ObjectSchema = imageField) =>
    createCog({ net, url: upstream.url, ...keyed(secret), input: inputFields, output, spoolFolder });
  const run = (output?: ObjectSchema) => driver(output).run(callWith({ prompt: "a" }));
  const reply = (value: unknown, status = 200) => ({ kind: "reply" as const, reply: jsonReply(value, status) });

  it("sends id and input, files as data URIs, nulls left out", async () => {
    await driver().run(callWith({ prompt: "a", image: fileInput(png), seed: null, options: { a: 1 } }));
    const [seen] = upstream.seen;
    expect(JSON.parse(String(seen?.body))).toEqual({
      id: "pred_1",
      input: { prompt: "a", image: `data:image/png;base64,${png.toString("base64")}`, options: { a: 1 } },
    });
    expect(seen?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it.each([
    ["failed", { status: "failed", error: `Traceback ${secret}`, logs: "at /src/predict.py" }],
    ["canceled", { status: "canceled" }],
    ["starting", { status: "starting" }],
  ])("takes a 200 that says %s as a failure", async (_status, answer) => {
    upstream.odd.call.push(reply(answer));
    const refusal = await faultOf(run());
    expect(refusal.type).toBe("downstream_service_error");
    expect(JSON.stringify(refusal.issues)).not.toMatch(/Traceback|predict\.py/);
    expect(String(refusal.cause)).not.toContain("0123456789");
  });

  it("reports refused inputs with our own text", async () => {
    const detail = [
      { loc: ["body", "input", "seed"], msg: `at most 9 ${secret}`, type: "value_error" },
      { loc: ["body", "input", "prompt"], msg: "field required", type: "value_error.missing" },
      { loc: ["body", "input", "image"], msg: "Field required", type: "missing" },
      { loc: ["body", "input", "hidden"], msg: "x", type: "value_error" },
    ];
    upstream.odd.call.push(reply({ detail }, 422));
    const refusal = await faultOf(run());
    expect(refusal.issues).toEqual([
      { type: "value_error", loc: ["body", "seed"], msg: "The model does not accept this value." },
      { type: "missing", loc: ["body", "prompt"], msg: "Field required" },
      { type: "missing", loc: ["body", "image"], msg: "Field required" },
    ]);
    upstream.odd.call.push(reply({ detail: detail.slice(3) }, 422), reply({ error: "no", status: "failed" }, 422));
    expect((await faultOf(run())).type).toBe("downstream_service_error");
    expect((await faultOf(run())).type).toBe("downstream_service_error");
  });

  const runs = () => upstream.seen.filter((one) => one.path === "/predictions");
  const busy = () => reply({ error: "At capacity - all prediction slots busy", status: "failed" }, 409);
  const notReady = () => reply({ error: "not ready", status: "failed" }, 503);

  it("retries while all slots are taken, until it is aborted", async () => {
    upstream.odd.call.push(busy(), busy(), busy());
    const { waitedMs } = await run();
    expect(runs()).toHaveLength(4);
    expect(waitedMs).toBeGreaterThan(300);
    upstream.odd.call.push(...Array.from({ length: 50 }, busy));
    const stop = new AbortController();
    const waiting = driver().run(callWith({ prompt: "a" }, { signal: stop.signal }));
    waiting.catch(() => {});
    await expect.poll(() => runs().length).toBeGreaterThan(6);
    stop.abort(new Error("the client left"));
    await expect(waiting).rejects.toMatchObject({ waitedMs: Number.POSITIVE_INFINITY });
  });

  it("never began if the container does not know the prediction that is cancelled", async () => {
    upstream.odd.call.push(busy(), { kind: "hang" }, reply({}, 404));
    const stop = new AbortController();
    const running = driver().run(callWith({ prompt: "a" }, { signal: stop.signal }));
    running.catch(() => {});
    await expect.poll(() => runs().length, { interval: 5 }).toBe(2);
    stop.abort(new Error("the client left"));
    await expect(running).rejects.toMatchObject({ waitedMs: Number.POSITIVE_INFINITY });
  });

  it("waits for setup to finish", async () => {
    upstream.health = "STARTING";
    setTimeout(() => Object.assign(upstream, { health: "READY" }), 1000);
    const { waitedMs } = await run();
    expect(runs().length).toBeGreaterThan(3);
    expect(waitedMs).toBeGreaterThan(900);
    expect(upstream.seen[1]).toMatchObject({ method: "GET", path: "/health-check" });
    expect(upstream.seen[1]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it.each([
    ["SETUP_FAILED", 503, "downstream_service_error", "setup of the model's container failed"],
    ["SETUP_FAILED", 404, "downstream_service_error", "setup of the model's container failed"],
    ["SETUP_FAILED", 500, "downstream_service_error", "setup of the model's container failed"],
    ["DEFUNCT", 409, "downstream_service_unavailable", "no longer accepts predictions"],
  ])("fails at once if the container's health is %s, with %i", async (status, code, type, sentence) => {
    upstream.health = status;
    upstream.odd.call.push(reply({ error: `Traceback ${secret}` }, code));
    const refusal = await faultOf(run());
    expect(refusal).toMatchObject({ type, message: expect.stringContaining(sentence) });
    expect(runs()).toHaveLength(1);
  });

  it.each(["READY", "UNHEALTHY", undefined])("is unavailable after three 503 if its health is %s", async (status) => {
    upstream.health = status;
    upstream.odd.call.push(notReady(), notReady(), notReady());
    expect((await faultOf(run())).type).toBe("downstream_service_unavailable");
    expect(runs()).toHaveLength(3);
  });

  it("cancels by id and by closing the connection", async () => {
    upstream.odd.call.push({ kind: "hang" });
    const stop = new AbortController();
    const running = driver().run(callWith({ prompt: "a" }, { signal: stop.signal }));
    running.catch(() => {});
    await expect.poll(() => upstream.seen.length).toBe(1);
    stop.abort(new Error("the client left"));
    await expect(running).rejects.toMatchObject({ cause: { message: "the client left" } });
    await expect.poll(() => upstream.seen.length, { interval: 5 }).toBe(2);
    const [predicting, cancelling] = upstream.seen;
    expect(cancelling).toMatchObject({ method: "POST", path: "/predictions/pred_1/cancel" });
    expect(cancelling?.headers.authorization).toBe(`Bearer ${secret}`);
    await expect.poll(() => predicting?.leftAt, { interval: 5 }).toBeDefined();
  });

  it("fills file fields from a list in order, and fails if the list is empty", async () => {
    const uri = `data:image/png;base64,${png.toString("base64")}`;
    upstream.output = [uri, uri];
    expect(await bytesOf((await run()).output.image)).toEqual(png);
    upstream.output = [];
    expect((await faultOf(run())).type).toBe("no_media_generated");
    upstream.odd.call.push(reply({ status: "succeeded", output: null }));
    expect((await faultOf(run())).type).toBe("no_media_generated");
  });

  const listField = (maxItems?: number): ObjectSchema => ({
    type: "object",
    required: ["images"],
    properties: {
      images: {
        type: "array",
        items: { type: "string", format: "binary", "x-media": "image" },
        ...(maxItems && { maxItems }),
      },
    },
  });

  it("sends a list of files as data URIs", async () => {
    await driver().run(callWith({ prompt: "a", photos: [fileInput(png), fileInput(png, "image/webp")] }));
    const base64 = png.toString("base64");
    expect(JSON.parse(String(upstream.seen[0]?.body)).input.photos).toEqual([
      `data:image/png;base64,${base64}`,
      `data:image/webp;base64,${base64}`,
    ]);
  });

  it("returns every file of a list", async () => {
    const uri = `data:image/png;base64,${png.toString("base64")}`;
    const large = Buffer.concat([png, Buffer.alloc(100_000, 7)]);
    upstream.made.bytes = large;
    upstream.output = [uri, `data:image/png;base64,${large.toString("base64")}`, `${upstream.url}/files/out.png`];
    const { images } = (await run(listField())).output;
    const bytes = await Promise.all((images as unknown[]).map(bytesOf));
    expect(bytes.map((each) => each.length)).toEqual([png.length, large.length, large.length]);
    upstream.output = { images: [uri, uri] };
    expect((await run(listField())).output.images).toHaveLength(2);
    upstream.output = uri;
    expect((await run(listField())).output.images).toHaveLength(1);
  });

  it("fails on more files than the manifest allows, on an empty list, and on anything else", async () => {
    const uri = `data:image/png;base64,${png.toString("base64")}`;
    upstream.output = [uri, uri, uri];
    expect((await faultOf(run(listField(2)))).message).toContain("returned 3 files. Its manifest allows 2");
    upstream.output = Array.from({ length: 17 }, () => uri);
    expect((await faultOf(run(listField()))).message).toContain("allows 16");
    upstream.output = [];
    expect((await faultOf(run(listField()))).type).toBe("no_media_generated");
    upstream.output = [uri, "s3://someone/else.png"];
    expect((await faultOf(run(listField()))).type).toBe("downstream_service_error");
  });

  it.each([[["a", "b"]], ["text"], [42], [{ a: [1] }], [[]]])("takes any output as it is: %j", async (value) => {
    upstream.output = value;
    expect((await run({ type: "object", properties: { output: {} } })).output).toEqual({ output: value });
  });

  it("fills fields by name from an object, and the only field from a value", async () => {
    const properties = {
      picture: { type: "string", format: "binary", "x-media": "image" } as const,
      score: { type: "number" },
      tags: { type: "array" },
    };
    const uri = `data:image/png;base64,${png.toString("base64")}`;
    upstream.output = { picture: uri, score: 0.5, tags: ["a"], other: 1 };
    const { output } = await run({ type: "object", properties });
    expect(Object.keys(output)).toEqual(["picture", "score", "tags"]);
    expect(output).toMatchObject({ picture: { contentType: "image/png" }, score: 0.5, tags: ["a"] });
    upstream.output = 42;
    expect((await run({ type: "object", properties: { answer: { type: "integer" } } })).output).toEqual({ answer: 42 });
    upstream.output = { a: 1, b: 2 };
    const whole = await run({ type: "object", properties: { answer: { type: "object" } } });
    expect(whole.output).toEqual({ answer: { a: 1, b: 2 } });
  });

  describe("streamed", () => {
    const chunks = ["Grü", "ße", " an alle"];
    const streamed = async () => {
      const fragments: string[] = [];
      const result = await driver(textField).run(
        callWith({ prompt: "greet them" }, { onFragment: (field, text) => void fragments.push(`${field}:${text}`) }),
      );
      return { result, fragments };
    };

    it("passes chunks on at once and counts unreported tokens", async () => {
      upstream.output = chunks;
      const { result, fragments } = await streamed();
      expect(fragments).toEqual(chunks.map((text) => `output:${text}`));
      expect(result.output).toEqual({ output: "Grüße an alle" });
      expect(result.usage).toMatchObject({ inputTokens: 3, estimated: true });
      expect(upstream.seen[0]?.headers.accept).toBe("text/event-stream");
    });

    it.each(["none", "old"] as const)("joins the list of a server without events: %s", async (events) => {
      Object.assign(upstream, { events, output: chunks });
      const { result, fragments } = await streamed();
      expect(fragments).toEqual(["output:Grüße an alle"]);
      expect(result.output).toEqual({ output: "Grüße an alle" });
    });

    const events = (...lines: [string, unknown][]) => ({
      kind: "reply" as const,
      reply: {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: lines.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(""),
      },
    });

    it.each([
      ["fails at its end", [["completed", { status: "failed", error: "boom" }]]],
      ["lost chunks", [["error", { error: "lagged", skipped: 3 }]]],
      ["ends without its end", []],
    ] as [string, [string, unknown][]][])("is a failure when it %s", async (_name, ending) => {
      upstream.odd.call.push(events(["start", {}], ["output", { chunk: "a", index: 0 }], ...ending));
      expect((await faultOf(streamed())).type).toBe("downstream_service_error");
    });

    it("waits for a slow reader", async () => {
      upstream.output = chunks;
      let busy = 0;
      let most = 0;
      await driver(textField).run(
        callWith(
          { prompt: "a" },
          {
            async onFragment() {
              most = Math.max(most, ++busy);
              await new Promise((resolve) => setTimeout(resolve, 20));
              busy--;
            },
          },
        ),
      );
      expect(most).toBe(1);
    });

    it("reports the usage of an aborted prediction and cancels it", async () => {
      Object.assign(upstream, { output: Array.from({ length: 100 }, () => "word "), chunkMs: 20 });
      const stop = new AbortController();
      let fragments = 0;
      const running = driver(textField).run(
        callWith(
          { prompt: "a" },
          {
            signal: stop.signal,
            onFragment() {
              if (++fragments !== 3) return;
              stop.abort(new Error("the client left"));
            },
          },
        ),
      );
      const error = await running.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Interrupted);
      const usage = await (error as Interrupted).usage();
      expect(usage).toMatchObject({ estimated: true });
      expect(usage?.outputTokens).toBeGreaterThanOrEqual(3);
      await expect.poll(() => upstream.seen[0]?.leftAt).toBeDefined();
      await expect.poll(() => upstream.seen[1]?.path).toBe("/predictions/pred_1/cancel");
    });
  });
});
