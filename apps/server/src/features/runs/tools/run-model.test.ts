import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startScriptedLlm } from "../../../../test/support/scripted-llm.ts";
import { type SlowCog, startSlowCog } from "../../../../test/support/slow-cog.ts";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { type Caller, everythingOf } from "../../accounts/index.ts";
import { openBilling, verifyLedger } from "../../billing/index.ts";
import { RunStopped } from "../work/stopped.ts";
import { type PlatformUnderTest, platformUnderTest } from "./platform.fixture.ts";
import { runModelTool } from "./run-model.ts";
import { builtinTool, calling, execute, scopeOf } from "./run-scope.fixture.ts";
import type { RunScope } from "./run-tool.ts";

let t: PlatformUnderTest;
let slow: SlowCog;
let upstream: Server;
let upstreamUrl: string;
let owner: Caller;
let other: Caller;
let driveId: string;
let png: Buffer;
/** Requests to the upstream, and its scripted answers. */
let seen: Record<string, unknown>[] = [];
let failure: { status: number; body: object } | undefined;
let files = 0;

const file = (media: string, more: object = {}) => ({
  type: ["string", "null"],
  format: "binary",
  "x-media": media,
  ...more,
});
const manifest = (more: object = {}) => ({
  title: "Echo",
  kind: "other",
  visibility: "public",
  capacity: 4,
  pricing: { per_request: 0.01 },
  input: {
    type: "object",
    properties: {
      prompt: { type: "string" },
      count: { type: ["integer", "null"], minimum: 1, default: 2 },
      sure: { type: "boolean", default: false },
      options: { type: "object", default: {} },
      list: { type: "array", items: { type: "number" }, default: [] },
      image: file("image"),
      table: file("file", { "x-formats": [".txt"] }),
    },
    required: ["prompt"],
  },
  output: { type: "object", properties: { output: { type: "string" } }, required: ["output"] },
  backend: { type: "cog", url: upstreamUrl },
  ...more,
});

beforeAll(async () => {
  t = await platformUnderTest();
  slow = await startSlowCog();
  png = await sharp({ create: { width: 20, height: 20, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  upstream = createServer(async (request, response) => {
    if (request.method === "GET") {
      files++;
      return void response.end(request.url === "/cat.png" ? png : "text");
    }
    const { input } = (await json(request)) as { input: Record<string, unknown> };
    seen.push(input);
    const { status, body } = failure ?? { status: 200, body: { status: "succeeded", output: JSON.stringify(input) } };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  owner = await t.newCaller("ann");
  other = await t.newCaller("bob");
  await t.models.putModel(owner, "ann", "echo", manifest());
  await t.models.putModel(owner, "ann", "private", manifest({ visibility: "private" }));
  await t.models.putModel(owner, "ann", "off", manifest({ capacity: 0 }));
  await t.models.putModel(owner, "ann", "slow", manifest({ backend: { type: "cog", url: slow.url }, capacity: 1 }));
  driveId = (await t.drives.createDrive(owner.userId, { name: "d" })).id;
  await t.drives.writeFile(owner.userId, driveId, "/in/cat.png", png, { mode: "put" });
  await t.drives.writeFile(owner.userId, driveId, "/notes.txt", Buffer.from("some notes"), { mode: "put" });
});
afterAll(async () => {
  expect(await verifyLedger(t.database)).toEqual([]);
  await t.close();
  await slow.close();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => {
  seen = [];
  failure = undefined;
  files = 0;
});

const own = (more: Parameters<typeof scopeOf>[1] = {}) => scopeOf(owner, { snapshot: { drives: [driveId] }, ...more });
const toolIn = (scope: RunScope) => runModelTool(builtinTool("run_model"), t.deps, scope);
const run = (model: string, input: Record<string, unknown>, scope: RunScope = own()) =>
  execute(toolIn(scope), { model, input });
const costing = (cost_micros: number) => ({
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cost_micros,
});
const bytesSent = (field: string) => String(seen[0]?.[field]).replace(/^data:[^,]*,/, "");

describe("a model call", () => {
  test("passes values with defaults and returns output and charge", async () => {
    const { balance: before } = await openBilling(t).walletOf(owner.userId);
    const input = { prompt: "hi \ud800", count: 3, sure: true, options: { a: [1] }, list: [1, 2.5] };
    const { text, isError, used } = await run("ann/echo", input);
    expect({ isError, used }).toEqual({ isError: false, used: costing(10_000) });
    expect(seen).toEqual([{ ...input, prompt: "hi \uFFFD" }]);
    expect(JSON.parse(JSON.parse(text).output)).toEqual(seen[0]);
    await run("ann/echo", { prompt: "x", count: null, sure: null, image: null });
    expect(seen[1]).toEqual({ prompt: "x", count: 2, sure: false, options: {}, list: [] });
    expect((await openBilling(t).walletOf(owner.userId)).balance).toBe(before - 20_000);
    const everything = { from: undefined, to: undefined };
    const { entries } = await openBilling(t).listUsage(everythingOf(owner.userId), everything, { limit: 2, offset: 0 });
    expect(entries.map(({ route, status, price }) => [route, status, price])).toEqual([
      ["agent", 200, 10_000],
      ["agent", 200, 10_000],
    ]);
  });

  test("is not charged twice after a crash", async () => {
    const scope = own();
    const call = calling({ model: "ann/echo", input: { prompt: "once" } });
    const { balance: before } = await openBilling(t).walletOf(owner.userId);
    const first = await toolIn(scope).execute(call);
    const again = await toolIn(scope).execute(call);
    expect(again).toEqual(first);
    expect(seen).toHaveLength(1);
    expect((await openBilling(t).walletOf(owner.userId)).balance).toBe(before - 10_000);
  });

  test("is repeated after a failure and charged once", async () => {
    const scope = own();
    const call = calling({ model: "ann/echo", input: { prompt: "twice" } });
    failure = { status: 500, body: {} };
    expect(await toolIn(scope).execute(call)).toMatchObject({ isError: true });
    failure = undefined;
    const { balance: before } = await openBilling(t).walletOf(owner.userId);
    expect(await toolIn(scope).execute(call)).toMatchObject({ isError: false, used: costing(10_000) });
    expect((await openBilling(t).walletOf(owner.userId)).balance).toBe(before - 10_000);
  });

  test("can stream", async () => {
    const { text, isError, used } = await run("gantry/text", { prompt: "Say hello" });
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual({ output: expect.stringMatching(/./) });
    expect(used?.cost_micros).toBeGreaterThan(0);
    expect(used?.output_tokens).toBeGreaterThan(0);
  });

  test("returns files as s3 addresses that another model accepts", async () => {
    const painted = await run("gantry/image", { prompt: "a red boat", size: "1280x720" });
    expect(painted).toMatchObject({ isError: false, used: costing(30_000) });
    const { image } = JSON.parse(painted.text);
    expect(image).toMatch(/^s3:\/\/gantry\//);
    expect(await run("ann/echo", { prompt: "describe", image })).toMatchObject({ isError: false });
    expect(Buffer.from(bytesSent("image"), "base64").subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    // Addresses of another caller do not work.
    const theirs = await run("ann/echo", { prompt: "x", image }, scopeOf(other));
    expect(theirs).toMatchObject({ isError: true, text: expect.stringContaining("belongs to another user") });
  }, 60_000);
});

describe("files", () => {
  test("come from a drive, a URL, a data URI or a stored file", async () => {
    const upload = { ownerId: owner.userId, body: Readable.from([png]), base: "http://gantry.example" };
    const { file_input: stored } = await t.files.storeUpload(upload);
    const sources = [
      "/in/cat.png",
      `drive:${driveId}/in/cat.png`,
      `${upstreamUrl}/cat.png`,
      `data:image/png;base64,${png.toString("base64")}`,
      String(stored?.s3_path),
    ];
    for (const image of sources) {
      seen = [];
      expect(await run("ann/echo", { prompt: "x", image }), image.slice(0, 60)).toMatchObject({ isError: false });
      expect(bytesSent("image")).toBe(png.toString("base64"));
    }
    await run("ann/echo", { prompt: "/in/cat.png", i_image: "/in/cat.png", table: "/notes.txt" });
    expect(seen.at(-1)).toMatchObject({ prompt: "/in/cat.png", table: expect.stringContaining("data:") });
  });

  test("that cannot be read are reported with all other issues, before anything is fetched or run", async () => {
    const { text, isError, used } = await run("ann/echo", {
      count: 0,
      colour: "red",
      image: "/in/none.png",
      table: `${upstreamUrl}/notes`,
    });
    expect({ isError, used }).toEqual({ isError: true, used: undefined });
    expect(text.split("\n")).toEqual([
      expect.stringMatching(/^count: Input should be at least 1/),
      "colour: Extra inputs are not permitted",
      "prompt: Field required",
      "image: The file could not be read from the drive. File not found",
    ]);
    expect([files, seen.length]).toEqual([0, 0]);
  });

  test.each([
    ["drive:drv_other/a", /The agent does not have this drive/],
    ["/../secret", /must not contain \.\./],
    ["/", /does not name a file/],
    ["drive:nothing", /Send a file, an http/],
    ["/etc/passwd", /read from the drive\. File not found/],
    ["file:///etc/passwd", /Send a file, an http/],
    ["s3://gantry/drives/file_1", /The file does not exist/],
  ])("are not read from %s", async (image, reason) => {
    expect(await run("ann/echo", { prompt: "x", image })).toMatchObject({
      isError: true,
      text: expect.stringMatching(reason),
    });
    expect(seen).toEqual([]);
  });

  test("of the wrong kind are refused by their bytes", async () => {
    expect(await run("ann/echo", { prompt: "x", image: "/notes.txt" })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^image: .*"supported_formats"/),
    });
  });

  test("on the creator's drives can be used by another caller", async () => {
    const theirs = scopeOf(other, { ownerId: owner.userId, snapshot: { drives: [driveId] } });
    expect(await run("ann/echo", { prompt: "x", image: "/in/cat.png" }, theirs)).toMatchObject({ isError: false });
    const none = scopeOf(other);
    expect(await run("ann/echo", { prompt: "x", image: `drive:${driveId}/in/cat.png` }, none)).toMatchObject({
      isError: true,
      text: expect.stringContaining("The agent has no drive"),
    });
  });
});

describe("a model that cannot be called", () => {
  test.each(["missing/model", "ann", "", "/", "a/b/c", "ann/echo/", "../x", "\0/\0", "constructor/__proto__"])(
    "because it does not exist: %j",
    async (model) => {
      expect(await run(model, { prompt: "x" })).toMatchObject({
        isError: true,
        text: expect.stringContaining("Project not found"),
      });
    },
  );

  test("because it is private, inactive, or not allowed for the key", async () => {
    expect(await run("ann/private", { prompt: "x" })).toMatchObject({ isError: false });
    const theirs = scopeOf(other, { ownerId: owner.userId });
    for (const [model, scope, reason] of [
      ["ann/private", theirs, "API key does not have access to the project"],
      ["ann/off", own(), "Project is not active"],
      ["ann/echo", scopeOf({ ...owner, models: ["gantry/text"] }), "API key does not have access to the project"],
    ] as const) {
      expect(await run(model, { prompt: "x" }, scope)).toEqual({ text: reason, isError: true });
    }
  });

  test("because of the balance", async () => {
    const poor = await t.newCaller("poor", { credit: 0 });
    expect(await run("ann/echo", { prompt: "x" }, scopeOf(poor))).toMatchObject({ used: costing(10_000) });
    expect(await run("ann/echo", { prompt: "x" }, scopeOf(poor))).toEqual({
      text: "Insufficient funds",
      isError: true,
    });
  });
});

describe("hostile input", () => {
  test.each([
    [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, 1])), /more than 32 fields/],
    [{ prompt: "x".repeat(1_048_577) }, /prompt: The field is longer than 1048576 bytes/],
    [JSON.parse('{"prompt":"x","__proto__":{"a":1},"constructor":2}'), /__proto__: Extra[\s\S]*constructor: Extra/],
    [{ prompt: "a\0b" }, /prompt: Input should be text without NUL/],
    [{ prompt: "x", user: { id: 1 }, webhook: { url: "http://a.example" } }, /user: Extra[\s\S]*webhook: Extra/],
    [{ prompt: "x", list: ["a"] }, /list\.0: /],
    [{ prompt: "x", image: ["/in/cat.png"] }, /image: Input should be a single value/],
    [{ prompt: "x", image: "/in/cat.png", i_image: "/in/cat.png" }, /given more than once/],
  ])("%#", async (input, reason) => {
    expect(await run("ann/echo", input)).toMatchObject({ isError: true, text: expect.stringMatching(reason) });
    expect(seen).toEqual([]);
  });

  test("nested too deeply", async () => {
    let options: object = {};
    for (let level = 0; level < 50_000; level++) options = { options };
    expect(await run("ann/echo", { prompt: "x", options })).toMatchObject({
      isError: true,
      text: expect.stringContaining("nested"),
    });
  });
});

describe("a call that fails", () => {
  test("is reported and not charged", async () => {
    failure = { status: 200, body: { status: "failed", error: "the cat refused" } };
    const outcome = await run("ann/echo", { prompt: "x" });
    expect(outcome).toMatchObject({ isError: true, used: costing(0), text: expect.stringMatching(/./) });
    expect(outcome.text).not.toMatch(/127\.0\.0\.1|Error:/);
  });

  test("an abort stops the model, running or queued", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const tool = toolIn(own());
    const given = { model: "ann/slow", input: { prompt: "x" } };
    const running = tool.execute(calling(given, first.signal));
    await waitFor("the model to run", () => slow.open === 1);
    const waiting = tool.execute(calling(given, second.signal));
    await waitFor("the second to be held", () => t.predictions.underWay() === 2);
    second.abort(new Error("second thoughts"));
    await expect(waiting).rejects.toThrow("second thoughts");
    first.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
    await waitFor("the model to be left", () => slow.open === 0 && t.predictions.underWay() === 0);
    expect(slow.started).toBe(1);
    await expect(tool.execute(calling(given, first.signal))).rejects.toThrow("cancelled");
    expect(slow.started).toBe(1);
  });

  test("a stop reports the usage, including attempts before a crash", async () => {
    const llm = await startScriptedLlm(() => ({ text: "one two three four", hangs: true }));
    const text = { type: "string" };
    await t.models.putModel(owner, "ann", "talker", {
      title: "Talker",
      kind: "text",
      visibility: "public",
      pricing: { per_million_output_tokens: 1000 },
      input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
      output: { type: "object", properties: { output: { ...text, isStream: true } } },
      backend: { type: "openai-chat", url: llm.url, model: "x" },
    });
    const { balance: before } = await openBilling(t).walletOf(owner.userId);
    const scope = own();
    const call = calling({ model: "ann/talker", input: { prompt: "hi" } });
    const stopped = async (why: unknown) => {
      const stop = new AbortController();
      const outcome = toolIn(scope).execute({ ...call, signal: stop.signal });
      await waitFor("the model to be called", () => llm.open === 1);
      await new Promise((resolve) => setTimeout(resolve, 100));
      stop.abort(why);
      return outcome.finally(() => waitFor("the model to be left", () => llm.open === 0));
    };
    const first = await stopped(new RunStopped("timeout"));
    expect(first).toMatchObject({ isError: true });
    expect(first.used?.input_tokens).toBeGreaterThan(0);
    expect(first.used?.output_tokens).toBeGreaterThan(0);
    const paid = async () => before - (await openBilling(t).walletOf(owner.userId)).balance;
    expect(first.used?.cost_micros).toBe(await paid());
    // Another node repeats the call and is charged for it.
    await expect(stopped(new RunStopped("lost"))).rejects.toThrow("lost");
    expect(await paid()).toBe(first.used?.cost_micros);
    llm.script = () => ({ text: "five", usage: { in: 3, out: 7 } });
    const last = await toolIn(scope).execute(call);
    expect(last).toMatchObject({ isError: false, text: '{"output":"five"}' });
    expect(last.used).toEqual({
      input_tokens: (first.used?.input_tokens ?? 0) + 3,
      output_tokens: (first.used?.output_tokens ?? 0) + 7,
      cached_tokens: 0,
      cache_write_tokens: 0,
      cost_micros: await paid(),
    });
    expect(await toolIn(scope).execute(call)).toEqual(last);
    await llm.close();
  });

  test("waits for a slot of the model or the plan and is not refused", async () => {
    const thrifty = await t.newCaller("thrifty", { plan: "free" });
    const scope = scopeOf(thrifty);
    const calls = Array.from({ length: 6 }, () => run("ann/slow", { prompt: "x" }, scope));
    const ended = Promise.all(calls);
    let done = false;
    void ended.finally(() => {
      done = true;
    });
    await waitFor("all of them to have had their turn", () => {
      slow.finishAll();
      return done;
    });
    for (const outcome of await ended) {
      expect(outcome).toEqual({ text: '{"output":"done"}', isError: false, used: costing(10_000) });
    }
    expect(slow.most).toBe(1);
  });
});
