import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorTable, type ObjectSchema } from "@gantry/wire";
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
import { type GantryServer, startGantry } from "../test-upstreams/gantry-server.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { readForm } from "../test-upstreams/read-form.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { createGantryRemote, type GantryRemoteBackend } from "./remote.ts";

describe("gantry", () => {
  mediaBackendContract({
    start: startGantry,
    create: (options) =>
      createGantryRemote({ ...options, model: "acme/painter", input: inputFields, output: imageField }),
    forms: ["link"],
  });

  let net: Net;
  let upstream: GantryServer;
  let spoolFolder: string;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startGantry(secret);
    upstream.made.bytes = png;
    spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
    await rm(spoolFolder, { recursive: true });
  });

  const driver = (output: ObjectSchema = imageField, more: Partial<GantryRemoteBackend> = {}) =>
    createGantryRemote({
      net,
      url: upstream.url,
      model: "acme/painter",
      ...keyed(secret),
      input: inputFields,
      output,
      spoolFolder,
      ...more,
    });
  const run = (output?: ObjectSchema) => driver(output).run(callWith({ prompt: "a" }));
  const refuse = (value: unknown, status: number) =>
    upstream.odd.call.push({ kind: "reply", reply: jsonReply(value, status) });

  it("sends the fields as a form with the key, for every form of the URL", async () => {
    const paths = ["", "/", "/api/v1", "/api/v1/acme/painter", "/api/v1/acme/painter/"];
    for (const path of paths) {
      const remote = driver(imageField, { url: upstream.url + path });
      const { output } = await remote.run(callWith({ prompt: "a", image: fileInput(png), seed: 3, size: null }));
      expect(await bytesOf(output.image)).toEqual(png);
    }
    const posts = upstream.seen.filter((one) => one.method === "POST");
    expect(posts.map((one) => one.path)).toEqual(paths.map(() => "/api/v1/acme/painter/predict"));
    const { fields, files } = await readForm(posts[0] ?? expect.fail());
    expect(fields).toEqual({ prompt: "a", seed: "3" });
    expect(files).toMatchObject([{ field: "image", type: "image/png", bytes: png }]);
  });

  it("fills a single output field of another name", async () => {
    const { image } = imageField.properties;
    const { output } = await run({ type: "object", properties: { picture: image ?? {} } });
    expect(await bytesOf(output.picture)).toEqual(png);
  });

  it("reports errors of the other server about fields with our own text and without its links", async () => {
    const url = "https://other.example/docs/errors#one_of";
    refuse(
      {
        detail: [
          {
            loc: ["body", "size"],
            msg: "Not allowed, see http://10.0.0.5:9000/internal",
            type: "one_of",
            url,
            ctx: { expected: ["2k"], secret },
            input: "x",
          },
          { loc: ["body", "inner"], msg: "?", type: "missing", url },
          { loc: ["body", "seed"], msg: "?", type: "made_up", url },
        ],
      },
      422,
    );
    const refusal = await faultOf(run());
    expect(refusal.issues).toEqual([
      { type: "one_of", loc: ["body", "size"], msg: errorTable.one_of.meaning, ctx: { expected: ["2k"] } },
    ]);
    const ctx = { expected: ["ask http://10.0.0.5"] };
    refuse({ detail: [{ loc: ["body", "size"], msg: "no", type: "one_of", url, ctx }] }, 422);
    expect((await faultOf(run())).issues).toMatchObject([{ ctx: {} }]);
    refuse({ detail: [{ loc: ["body", "prompt"], msg: "no", type: "content_policy_violation", url }] }, 422);
    expect((await faultOf(run())).type).toBe("content_policy_violation");
    refuse({ detail: [{ loc: ["body", "inner"], msg: "?", type: "missing", url }] }, 422);
    expect((await faultOf(run())).type).toBe("downstream_service_error");
  });

  it.each([
    [401, 502],
    [403, 502],
    [429, 503],
    [503, 503],
    [504, 503],
  ])("answers its %i as %i", async (theirs, ours) => {
    for (let n = 0; n < 3; n++) refuse({ detail: "Insufficient funds", status_code: theirs }, theirs);
    const refusal = await faultOf(run());
    expect(refusal.status).toBe(ours);
    expect(JSON.stringify(refusal.issues)).not.toContain("funds");
  });

  it("does not retry after a timeout of the other server", async () => {
    refuse({ detail: [{ loc: ["body"], msg: "late", type: "generation_timeout" }] }, 504);
    await faultOf(run());
    expect(upstream.seen).toHaveLength(1);
  });

  const content = (...pieces: string[]) => ({ output_data: { output: pieces }, status: 200 });
  const ended = {
    output_data: {},
    status: 200,
    stream_details: { input_tokens: 5, output_tokens: 3, cached_tokens: 2, cache_write_tokens: 1 },
  };

  it("streams text and uses the tokens that the other server reports", async () => {
    upstream.lines = [content("Hel", "lo"), content(" there"), ended];
    const fragments: string[] = [];
    const result = await driver(textField).run(
      callWith({ prompt: "a" }, { onFragment: (field, text) => void fragments.push(`${field}:${text}`) }),
    );
    expect(upstream.seen[0]?.path).toBe("/api/v1/acme/painter/predict/stream/");
    expect(fragments).toEqual(["output:Hello", "output: there"]);
    expect(result).toEqual({
      output: { output: "Hello there" },
      usage: { inputTokens: 5, outputTokens: 3, cachedTokens: 2, cacheWriteTokens: 1 },
    });
  });

  it("counts unreported tokens, and marks estimates of the other server", async () => {
    upstream.lines = [content("one two"), { output_data: {}, status: 200 }];
    expect((await run(textField)).usage).toEqual({ inputTokens: 1, outputTokens: 2, estimated: true });
    upstream.lines = [{ output_data: {}, status: 200 }];
    expect((await run(textField)).usage).toEqual({ inputTokens: 1, outputTokens: 0, estimated: true });
    const details = { input_tokens: 5, output_tokens: 3, cached_tokens: 50, cache_write_tokens: 9, estimated: true };
    upstream.lines = [content("one"), { ...ended, stream_details: details }];
    const counted = { inputTokens: 5, outputTokens: 3, cachedTokens: 5, cacheWriteTokens: 0, estimated: true };
    expect((await run(textField)).usage).toEqual(counted);
  });

  it("reports usage when it is aborted before the other server has answered", async () => {
    upstream.odd.call.push({ kind: "hang" });
    const stop = new AbortController();
    const running = driver(textField).run(callWith({ prompt: "a" }, { signal: stop.signal }));
    await expect.poll(() => upstream.seen.length).toBe(1);
    stop.abort(new Error("the client left"));
    const stopped = await running.catch((thrown: unknown) => thrown);
    expect(stopped).toBeInstanceOf(Interrupted);
    expect(await (stopped as Interrupted).usage()).toEqual({ inputTokens: 1, outputTokens: 0, estimated: true });
  });

  it("uses the stream of a model that only streams", async () => {
    Object.assign(upstream, { streamingOnly: true, lines: [content("Hello"), ended] });
    const { output } = await run({ type: "object", properties: { text: { type: "string" } } });
    expect(output).toEqual({ text: "Hello" });
  });

  it("reports an error event with its status, and a stream without an end as broken", async () => {
    const detail = [{ loc: ["body", "prompt"], msg: "no", type: "content_policy_violation", url: "" }];
    upstream.lines = [content("He"), { detail, status: 422 }];
    expect((await faultOf(run(textField))).type).toBe("content_policy_violation");
    upstream.lines = [{ detail: [{ loc: ["body"], msg: "x", type: "downstream_service_unavailable" }], status: 503 }];
    expect((await faultOf(run(textField))).type).toBe("downstream_service_unavailable");
    upstream.lines = [content("He")];
    expect((await faultOf(run(textField))).type).toBe("downstream_service_error");
  });

  it("cancels by the remote id and closes the connection within 100 ms", async () => {
    Object.assign(upstream, { lines: Array.from({ length: 100 }, () => content("word ")), lineMs: 20 });
    const stop = new AbortController();
    const running = driver(textField).run(
      callWith(
        { prompt: "a" },
        {
          signal: stop.signal,
          onFragment: () => stop.abort(new Error("the client left")),
        },
      ),
    );
    expect(await running.catch((thrown: unknown) => thrown)).toBeInstanceOf(Interrupted);
    await expect.poll(() => upstream.seen[0]?.leftAt, { interval: 5 }).toBeDefined();
    await expect.poll(() => upstream.seen.length).toBe(2);
    expect(upstream.seen[1]).toMatchObject({ path: "/api/v1/acme/painter/predict/cancel/", method: "POST" });
    expect(JSON.parse(String(upstream.seen[1]?.body))).toEqual({ prediction_id: "pred_remote" });
  });
});
