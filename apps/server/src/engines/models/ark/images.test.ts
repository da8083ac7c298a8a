import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import {
  callWith,
  faultOf,
  fileInput,
  imageField,
  inputFields,
  mediaBackendContract,
  png,
  secret,
} from "../media/backend.contract.ts";
import { type MediaServer, startArkImages } from "../test-upstreams/image-servers.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { type ArkImagesBackend, createArkImages } from "./images.ts";

const model = "seedream-4-0-250828";

describe("ark-images", () => {
  mediaBackendContract({
    start: startArkImages,
    create: ({ url, ...rest }) =>
      createArkImages({ ...rest, url: `${url}/api/v3`, model, input: inputFields, output: imageField }),
    forms: ["link", "base64"],
    around: (text) => ({ data: [{ b64_json: text }] }),
  });

  let net: Net;
  let upstream: MediaServer;
  let spoolFolder: string;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startArkImages(secret);
    upstream.made.bytes = png;
    spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
    await rm(spoolFolder, { recursive: true });
  });

  const driver = (more: Partial<ArkImagesBackend> = {}) =>
    createArkImages({
      net,
      url: `${upstream.url}/api/v3`,
      model,
      ...keyed(secret),
      input: inputFields,
      output: imageField,
      spoolFolder,
      ...more,
    });
  const sent = () => JSON.parse(String(upstream.seen.at(-1)?.body));

  it("writes fields in the vendor's form", async () => {
    const input = { size: "2k", watermark: null, optimize_prompt_mode: "fast", enable_safety_checker: true, seed: 3 };
    const result = await driver().run(callWith({ ...input, prompt: "a boat" }));
    expect(sent()).toEqual({
      model,
      prompt: "a boat",
      size: "2K",
      seed: 3,
      watermark: false,
      optimize_prompt_options: { mode: "fast" },
      sequential_image_generation: "disabled",
      response_format: "url",
    });
    expect(result.usage).toEqual({ inputTokens: 0, outputTokens: 16_384 });
    await driver({ responseFormat: "b64_json" }).run(callWith({ prompt: "a", size: "1280x720", watermark: true }));
    expect(sent()).toMatchObject({ size: "1280x720", watermark: true, response_format: "b64_json" });
  });

  it("sends one image as a text and several as a list in the manifest's order, as data URIs", async () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3, 4]);
    const uri = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString("base64")}`;
    await driver().run(callWith({ prompt: "a", image: fileInput(png) }));
    expect(sent().image).toBe(uri(png, "image/png"));
    expect(upstream.seen[0]?.headers["content-length"]).toBe(String(upstream.seen[0]?.body.length));
    const input = { image3: fileInput(png), image1: fileInput(jpeg, "image/jpeg"), image: fileInput(png) };
    await driver().run(callWith({ prompt: "a", ...input }));
    expect(sent().image).toEqual([uri(png, "image/png"), uri(jpeg, "image/jpeg"), uri(png, "image/png")]);
  });

  const codes = [
    ["InputTextSensitiveContentDetected", "content_policy_violation"],
    ["OutputImageSensitiveContentDetected.PolicyViolation", "content_policy_violation"],
    ["InputImageRiskDetection", "content_policy_violation"],
    ["InvalidImageURL", "file_download_error"],
    ["RateLimitExceeded", "downstream_service_unavailable"],
    ["QuotaExceeded", "downstream_service_unavailable"],
    ["InternalServiceError", "downstream_service_error"],
    ["AccountOverdueError", "downstream_service_error"],
  ] as const;

  it.each(codes)("reports %s in a 200 as %s", async (code, type) => {
    const error = { code, message: `internal ${secret}` };
    for (const answer of [{ data: [{ error }] }, { data: [], error }, { error }]) {
      upstream.odd.call.push({ kind: "reply", reply: jsonReply(answer) });
      const refusal = await faultOf(driver().run(callWith({ prompt: "a" })));
      expect(refusal.type).toBe(type);
      expect(JSON.stringify(refusal.issues)).not.toContain("internal sk-");
    }
  });

  it.each(codes.slice(0, 4))("reports %s in a 400 as %s", async (code, type) => {
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { code, message: "no" } }, 400) });
    expect((await faultOf(driver().run(callWith({ prompt: "a" })))).type).toBe(type);
  });

  it("retries after a 429 with a rate limit code", async () => {
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { code: "RateLimitExceeded" } }, 429) });
    await driver().run(callWith({ prompt: "a" }));
    expect(upstream.seen.filter((one) => one.method === "POST")).toHaveLength(2);
  });

  it("keeps images next to a failed one, and fails without any image", async () => {
    const good = { b64_json: png.toString("base64") };
    const data = [{ error: { code: "OutputImageSensitiveContentDetected" } }, good];
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ data }) });
    const { output } = await driver().run(callWith({ prompt: "a" }));
    expect(output.image).toMatchObject({ contentType: "image/png" });
    const image = { type: "string", format: "binary", "x-media": "image" } as const;
    const properties = { first: image, second: image };
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ data }) });
    const two = driver({ output: { type: "object", properties, required: ["first", "second"] } });
    expect((await faultOf(two.run(callWith({ prompt: "a" })))).type).toBe("content_policy_violation");
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ data: [] }) });
    expect((await faultOf(driver().run(callWith({ prompt: "a" })))).type).toBe("no_media_generated");
  });
});
