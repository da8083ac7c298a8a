import { createHash } from "node:crypto";
import OpenAI, { APIError, toFile } from "openai";
import type { ImagesResponse } from "openai/resources/images";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type MediaServer, startOpenAiImages } from "../../../src/engines/models/test-upstreams/image-servers.ts";
import { readForm } from "../../../src/engines/models/test-upstreams/read-form.ts";
import { jsonReply, type Seen } from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "sk-images-0815";
let gantry: GantryNode;
let upstream: MediaServer;
let key: string;
let png: Buffer;

const file = { type: ["string", "null"], format: "binary", "x-media": "image" };
const imageOut = { type: "string", format: "binary", "x-media": "image" };

beforeAll(async () => {
  png = await sharp({ create: { width: 64, height: 64, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
  upstream = await startOpenAiImages(secret);
  gantry = await startGantry();
  await gantry.call("PUT", "/api/v2/secrets/painter", { json: { value: secret } });
  const properties = {
    prompt: { type: "string" },
    image: file,
    image1: file,
    mask: file,
    size: { type: "string", enum: ["1024x1024", "1536x1024", "1024x1536"], default: "1024x1024" },
    quality: { type: "string", enum: ["low", "high"], default: "low" },
    seed: { type: ["integer", "null"] },
  };
  const model = {
    kind: "image",
    visibility: "public",
    capacity: 8,
    pricing: { per_output: 0.04 },
    input: { type: "object", required: ["prompt"], properties },
    output: {
      type: "object",
      required: ["image"],
      properties: { image: imageOut, revised_prompt: { type: "string" } },
    },
    backend: { type: "openai-images", url: `${upstream.url}/v1`, model: "gpt-image-1", secret: "painter" },
  };
  const { mask: _mask, image: _image, image1: _second, ...plain } = properties;
  await createModels(gantry, {
    paint: model,
    plain: { ...model, input: { type: "object", required: ["prompt"], properties: plain } },
    chat: chatModel(upstream.url),
  });
  key = await gantry.newUser("painter", { credit: 100 });
});
afterAll(async () => {
  await gantry.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
  upstream.odd.call.length = 0;
  Object.assign(upstream.made, { bytes: png, type: "image/png", as: "base64" });
});

const client = (apiKey = key) => new OpenAI({ baseURL: `${gantry.url}/v1`, apiKey, maxRetries: 0 });
const post = (json: object, options = {}) => gantry.call("POST", "/v1/images/generations", { key, json, ...options });
const sent = (n = 0) => JSON.parse(String(upstream.seen[n]?.body));
const usage = async (by = key) => (await gantry.call("GET", "/api/v2/usage", { key: by })).body.results;
const bytesOf = (answer: ImagesResponse, n = 0) => Buffer.from(answer.data?.[n]?.b64_json ?? "", "base64");
const upload = (name = "in.png", bytes = png) => toFile(bytes, name, { type: "image/png" });

async function refusal(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw error;
  return error;
}

describe("gantry/image", () => {
  test("paints for the official client", async () => {
    const asked = { model: "gantry/image", prompt: "a lighthouse at dusk", size: "1024x1024" as const };
    const { data, response } = await client().images.generate(asked).withResponse();
    expect(await sharp(bytesOf(data)).metadata()).toMatchObject({ format: "jpeg", width: 1536, height: 1536 });
    expect(data.output_format).toBe("jpeg");
    expect(Math.abs(data.created - Date.now() / 1000)).toBeLessThan(60);
    expect(data).not.toHaveProperty("usage");
    expect(response.headers.get("x-gantry-size")).toBe("1536x1536");
    expect(response.headers.get("x-gantry-cost")).toBe("0.03");
    const [row] = await usage();
    expect(row).toMatchObject({
      request_id: response.headers.get("x-gantry-prediction-id"),
      model_name: "gantry/image",
      route: "sync",
      door: "openai-images",
      price: 0.03,
    });
  });

  test("edits with several pictures, and ignores fields that it does not have", async () => {
    const answer = await client().images.edit({
      model: "gantry/image",
      prompt: "a barn",
      image: [await upload("a.png"), await upload("b.png")],
      size: "1280x720" as never,
      quality: "high",
      background: "transparent",
      output_format: "png",
      user: "u-1",
    });
    expect(await sharp(bytesOf(answer)).metadata()).toMatchObject({ format: "jpeg", width: 1280, height: 720 });
    const plain = await client().images.generate({
      model: "gantry/image",
      prompt: "a barn",
      size: "1280x720" as never,
    });
    expect(bytesOf(answer).equals(bytesOf(plain))).toBe(false);
  });

  test("answers with links that need no key", async () => {
    const { data } = await client().images.generate({
      ...{ model: "gantry/image", prompt: "a barn", response_format: "url" as const },
      size: "720x1280" as never,
    });
    const url = data?.[0]?.url ?? "";
    expect(data?.[0]).not.toHaveProperty("b64_json");
    const image = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(await sharp(image).metadata()).toMatchObject({ width: 720, height: 1280 });
  });
});

describe("a model of an upstream", () => {
  test("gets the inputs that it has, by their names", async () => {
    const asked = {
      model: "admin/paint",
      prompt: "a boat",
      quality: "high",
      size: "1792x1024",
      style: "vivid",
      seed: 7,
    };
    const { body, headers } = await post({ ...asked, user: "u", n: 1, moderation: "low" });
    expect(sent()).toEqual({ model: "gpt-image-1", prompt: "a boat", quality: "high", size: "1536x1024", seed: 7 });
    expect(headers.get("x-gantry-size")).toBe("1536x1024");
    expect(body).toEqual({
      data: [{ b64_json: png.toString("base64"), revised_prompt: "a boat, at dawn" }],
      created: expect.any(Number),
      output_format: "png",
    });
  });

  test("gets its defaults for auto", async () => {
    const { headers } = await post({ model: "admin/paint", prompt: "a boat", quality: "auto", size: "auto", n: null });
    expect(sent()).toMatchObject({ quality: "low", size: "1024x1024" });
    expect(headers.get("x-gantry-size")).toBeNull();
  });

  test("gets images in order, and the mask", async () => {
    const other = await sharp(png).negate().png().toBuffer();
    await client().images.edit({
      model: "admin/paint",
      prompt: "a boat",
      image: [await upload("a.png", other), await upload("b.png")],
      mask: await upload("mask.png", png),
    });
    expect(upstream.seen[0]?.path).toBe("/v1/images/edits");
    const { files } = await readForm(upstream.seen[0] as Seen);
    expect(files.map(({ field, bytes }) => [field, bytes.equals(other)])).toEqual([
      ["image[]", true],
      ["image[]", false],
      ["mask", false],
    ]);
  });

  test("sends an image of 3 MB through unchanged", async () => {
    const noise = createHash("shake256", { outputLength: 1100 * 1100 * 3 })
      .update("noise")
      .digest();
    const large = await sharp(noise, { raw: { width: 1100, height: 1100, channels: 3 } })
      .png()
      .toBuffer();
    upstream.made.bytes = large;
    const answer = await client().images.generate({ model: "admin/paint", prompt: "a boat" });
    expect(large.length).toBeGreaterThan(3_000_000);
    expect(bytesOf(answer).equals(large)).toBe(true);
  });
});

describe("several images", () => {
  test("are predictions of their own, each with its own seed and price", async () => {
    const many = await gantry.newUser("many");
    const asked = { model: "admin/paint", prompt: "a boat", n: 3, seed: 7 };
    const { body, headers } = await post(asked, { key: many });
    expect(body.data).toHaveLength(3);
    expect(upstream.seen.map((_, n) => sent(n).seed).toSorted()).toEqual([7, 8, 9]);
    expect(headers.get("x-gantry-cost")).toBe("0.12");
    const rows = await usage(many);
    expect(rows.map((row: { price: number; door: string }) => [row.price, row.door])).toEqual(
      Array.from({ length: 3 }, () => [0.04, "openai-images"]),
    );
    const ids = rows.map((row: { request_id: string }) => row.request_id);
    expect(headers.get("x-gantry-prediction-id")?.split(", ").toSorted()).toEqual(ids.toSorted());
  });

  test("are those that succeeded", async () => {
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { code: "moderation_blocked" } }, 400) });
    const { status, body, headers } = await post({ model: "admin/paint", prompt: "a boat", n: 2 });
    expect([status, body.data.length, headers.get("x-gantry-cost")]).toEqual([200, 1, "0.04"]);
  });

  test("are the first error if none succeeded", async () => {
    const refused = { kind: "reply" as const, reply: jsonReply({ error: { code: "moderation_blocked" } }, 400) };
    upstream.odd.call.push(refused, refused);
    const error = await refusal(client().images.generate({ model: "admin/paint", prompt: "a boat", n: 2 }));
    expect([error.status, error.code]).toEqual([400, "content_policy_violation"]);
  });

  test("stop together when the client leaves", async () => {
    upstream.odd.call.push({ kind: "hang" }, { kind: "hang" });
    const stop = new AbortController();
    const asking = client().images.generate({ model: "admin/paint", prompt: "a", n: 2 }, { signal: stop.signal });
    asking.catch(() => {});
    await waitFor("both requests", () => upstream.seen.length === 2);
    stop.abort();
    await waitFor("both ends", () => upstream.seen.every((one) => one.leftAt !== undefined), 2_000);
    await waitFor("the settlement", async () => {
      return (await gantry.call("GET", "/api/v2/me", { key })).body.reserved === 0;
    });
  });

  test("are not created or paid again with the same Idempotency-Key", async () => {
    const once = await gantry.newUser("once");
    const asked = { model: "admin/paint", prompt: "a boat", n: 2 };
    const headers = { "idempotency-key": "poster-1" };
    const first = await post(asked, { key: once, headers });
    const again = await post(asked, { key: once, headers });
    expect(again.body.data).toEqual(first.body.data);
    expect(again.headers.get("x-gantry-prediction-id")).toBe(first.headers.get("x-gantry-prediction-id"));
    expect(upstream.seen).toHaveLength(2);
    const other = await post({ ...asked, prompt: "a barn" }, { key: once, headers });
    expect([other.status, other.body.error.code]).toEqual([400, "idempotency_key_reused"]);
    expect((await gantry.call("GET", "/api/v2/me", { key: once })).body.balance).toBe(9.92);
  });

  test("of a form are repeated by the content of its files", async () => {
    const edit = async (bytes: Buffer) => {
      const form = new FormData();
      form.append("image[]", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "a.png");
      for (const [name, value] of Object.entries({ prompt: "a boat", model: "admin/paint" })) form.append(name, value);
      return gantry.call("POST", "/v1/images/edits", { key, form, headers: { "idempotency-key": "edit-1" } });
    };
    const first = await edit(png);
    expect(first.status, first.text).toBe(200);
    expect((await edit(png)).body.data).toEqual(first.body.data);
    expect((await edit(await sharp(png).negate().png().toBuffer())).status).toBe(400);
    expect(upstream.seen).toHaveLength(1);
  });
});

describe("a request that cannot be honoured", () => {
  test.each([
    [{ prompt: "" }, "prompt"],
    [{ prompt: 7 }, "prompt"],
    [{ n: 5 }, "n"],
    [{ n: 0 }, "n"],
    [{ n: 1.5 }, "n"],
    [{ stream: true }, "stream"],
    [{ size: "huge" }, "size"],
    [{ response_format: "hex" }, "response_format"],
    [{ quality: "hd" }, "quality"],
    [{ model: "admin/chat" }, "model"],
    [{ model: undefined }, "model"],
  ])("is a 400 that names the field: %j", async (change, param) => {
    const refused = await refusal(
      client()
        .images.generate({ model: "admin/paint", prompt: "a boat", ...change } as never)
        .then(async (answer) => {
          // A stream is an iterable whose request has been sent.
          if (Symbol.asyncIterator in answer) for await (const _ of answer as AsyncIterable<unknown>);
        }),
    );
    expect([refused.status, refused.param]).toEqual([400, param]);
    expect(upstream.seen).toHaveLength(0);
  });

  test("names what is wrong with files", async () => {
    const edit = (more: object) => client().images.edit({ model: "admin/paint", prompt: "a", ...more } as never);
    const params = async (work: Promise<unknown>) => {
      const { status, param } = await refusal(work);
      return [status, param];
    };
    const image = await upload();
    expect(await params(edit({ image: [image, image, image] }))).toEqual([400, "image"]);
    expect(await params(edit({ image: await toFile(Buffer.from("not an image"), "x.png") }))).toEqual([400, "image"]);
    expect(await params(edit({ image, model: "admin/plain" }))).toEqual([400, "image"]);
    expect(await params(edit({ image, mask: image, model: "gantry/image" }))).toEqual([400, "mask"]);
    expect(await params(edit({}))).toEqual([400, "image"]);
    const json = await gantry.call("POST", "/v1/images/edits", { key, json: { model: "admin/paint", prompt: "a" } });
    expect([json.status, json.body.error.type]).toEqual([400, "invalid_request_error"]);
    expect(upstream.seen).toHaveLength(0);
  });
});

describe("limits and access", () => {
  test("images beyond the plan's parallel limit are left out", async () => {
    await gantry.call("PUT", "/api/v2/admin/plans/narrow", { json: { parallel: 1, requests_per_minute: null } });
    const narrow = await gantry.newUser("narrow", { plan: "narrow" });
    const { body } = await post({ model: "admin/paint", prompt: "a boat", n: 3 }, { key: narrow });
    expect(body.data).toHaveLength(1);
  });

  test("insufficient funds are a 402 that is not retried", async () => {
    const poor = await gantry.newUser("poor", { credit: -1 });
    const refused = await refusal(client(poor).images.generate({ model: "gantry/image", prompt: "a boat", n: 2 }));
    expect([refused.status, refused.code]).toEqual([402, "insufficient_quota"]);
    expect(refused.headers?.get("x-should-retry")).toBe("false");
  });

  test("a confined key creates and reads images of its models only", async () => {
    const made = await gantry.call("POST", "/api/v2/keys", { key, json: { models: ["admin/paint"] } });
    const confined = client(made.body.key);
    expect(bytesOf(await confined.images.generate({ model: "admin/paint", prompt: "a boat" })).equals(png)).toBe(true);
    const refused = await refusal(confined.images.generate({ model: "gantry/image", prompt: "a boat" }));
    expect([refused.status, refused.code, refused.param]).toEqual([404, "model_not_found", "model"]);
  });
});
