import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
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
} from "../media/backend.contract.ts";
import { type MediaServer, startOpenAiImages } from "../test-upstreams/image-servers.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { readForm } from "../test-upstreams/read-form.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { createOpenAiImages, type OpenAiImagesBackend } from "./images.ts";

describe("openai-images", () => {
  mediaBackendContract({
    start: startOpenAiImages,
    create: ({ url, ...rest }) =>
      createOpenAiImages({ ...rest, url: `${url}/v1`, model: "gpt-image-1", input: inputFields, output: imageField }),
    forms: ["base64", "link"],
    around: (text) => ({ data: [{ b64_json: text }] }),
  });

  let net: Net;
  let upstream: MediaServer;
  let spoolFolder: string;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startOpenAiImages(secret);
    upstream.made.bytes = png;
    spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
    await rm(spoolFolder, { recursive: true });
  });

  const driver = (more: Partial<OpenAiImagesBackend> = {}) =>
    createOpenAiImages({
      net,
      url: `${upstream.url}/v1/`,
      model: "gpt-image-1",
      ...keyed(secret),
      input: inputFields,
      output: imageField,
      spoolFolder,
      ...more,
    });

  it("generates from a prompt: JSON, inputs by name, nulls left out, tokens reported", async () => {
    const result = await driver().run(callWith({ prompt: 'a "boat"', size: "1024x1024", seed: null }));
    expect(upstream.seen[0]?.path).toBe("/v1/images/generations");
    const sent = JSON.parse(String(upstream.seen[0]?.body));
    expect(sent).toEqual({ prompt: 'a "boat"', size: "1024x1024", model: "gpt-image-1" });
    expect(result.usage).toEqual({ inputTokens: 60, outputTokens: 1056 });
  });

  it("writes sizes as configured", async () => {
    await driver({ sizes: { "2k": "2048x2048" } }).run(callWith({ prompt: "a", size: "2k" }));
    await driver().run(callWith({ prompt: "a", size: "2k" }));
    const sizes = upstream.seen.map((one) => JSON.parse(String(one.body)).size);
    expect(sizes).toEqual(["2048x2048", "2k"]);
  });

  it("edits images: multipart, in the manifest's order, with a separate mask", async () => {
    const second = Buffer.concat([png, Buffer.from("second")]);
    const mask = Buffer.concat([png, Buffer.from("mask")]);
    const input = { mask: fileInput(mask), image1: fileInput(second, "image/jpeg"), image: fileInput(png), seed: 7 };
    await driver().run(callWith({ ...input, prompt: "zwölf\r\nBoote", options: { a: [1] } }));
    expect(upstream.seen[0]?.path).toBe("/v1/images/edits");
    expect(upstream.seen[0]?.headers["content-length"]).toBe(String(upstream.seen[0]?.body.length));
    const { fields, files } = await readForm(upstream.seen[0] ?? expect.fail());
    expect(fields).toEqual({ prompt: "zwölf\r\nBoote", seed: "7", options: '{"a":[1]}', model: "gpt-image-1" });
    expect(files.map(({ field, filename, type }) => [field, filename, type])).toEqual([
      ["image[]", "image.png", "image/png"],
      ["image[]", "image1.jpg", "image/jpeg"],
      ["mask", "mask.png", "image/png"],
    ]);
    expect(files.map(({ bytes }) => bytes)).toEqual([png, second, mask]);
  });

  it("sends a single image as image, also on a retry", async () => {
    upstream.odd.call.push({ kind: "reset" });
    await driver().run(callWith({ prompt: "a", image: fileInput(png) }));
    const { files } = await readForm(upstream.seen[1] ?? expect.fail());
    expect(files).toMatchObject([{ field: "image", bytes: png }]);
  });

  it.each(["moderation_blocked", "content_policy_violation"])("reports %s as refused content", async (code) => {
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { code, message: "no" } }, 400) });
    expect(await faultOf(driver().run(callWith({ prompt: "a" })))).toMatchObject({
      type: "content_policy_violation",
      status: 422,
    });
  });

  it("fails without an image", async () => {
    for (const answer of [{ data: [] }, { data: [{ b64_json: "" }] }, {}]) {
      upstream.odd.call.push({ kind: "reply", reply: jsonReply(answer) });
      expect((await faultOf(driver().run(callWith({ prompt: "a" })))).type).toBe("no_media_generated");
    }
  });

  it("reports an error in a 200, and an invalid answer, as the upstream's fault", async () => {
    for (const answer of [{ error: { code: "server_error", message: "internal" } }, null, "sorry"]) {
      upstream.odd.call.push({ kind: "reply", reply: jsonReply(answer) });
      const refusal = await faultOf(driver().run(callWith({ prompt: "a" })));
      expect(refusal.type).toBe("downstream_service_error");
      expect(JSON.stringify(refusal.issues)).not.toContain("internal");
    }
    const refused = { error: { code: "content_policy_violation", message: "no" } };
    upstream.odd.call.push({ kind: "reply", reply: jsonReply(refused) });
    expect((await faultOf(driver().run(callWith({ prompt: "a" })))).type).toBe("content_policy_violation");
  });

  it("limits cached tokens to the input tokens", async () => {
    const usage = { input_tokens: 100, output_tokens: 2, input_tokens_details: { cached_tokens: 5_000_000 } };
    upstream.odd.call.push({
      kind: "reply",
      reply: jsonReply({ data: [{ b64_json: png.toString("base64") }], usage }),
    });
    const result = await driver().run(callWith({ prompt: "a" }));
    expect(result.usage).toEqual({ inputTokens: 100, outputTokens: 2, cachedTokens: 100 });
  });

  it("fills further file fields in order and other fields by name", async () => {
    const image = { type: "string", format: "binary", "x-media": "image" } as const;
    const properties = { first: image, second: image, third: image, revised_prompt: { type: "string" } };
    const other = Buffer.concat([png, Buffer.from("other")]);
    const data = [{ b64_json: png.toString("base64"), revised_prompt: "b" }, { b64_json: other.toString("base64") }];
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ data }) });
    const { output } = await driver({ output: { type: "object", properties } }).run(callWith({ prompt: "a" }));
    expect(Object.keys(output)).toEqual(["first", "second", "revised_prompt"]);
    expect(await bytesOf(output.second)).toEqual(other);
    expect(output.revised_prompt).toBe("b");
  });

  it("fills a single output that is not a file field, unless the answer has a value for it", async () => {
    const only = (name: string, type: string) => ({ type: "object" as const, properties: { [name]: { type } } });
    const run = async (output: OpenAiImagesBackend["output"]) =>
      (await driver({ output }).run(callWith({ prompt: "a" }))).output;
    expect(await bytesOf((await run(only("picture", "string"))).picture)).toEqual(png);
    expect(await run(only("count", "integer"))).toEqual({});
    expect(await run(only("revised_prompt", "string"))).toEqual({ revised_prompt: "a boat, at dawn" });
  });
});
