import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type CogServer, startCog } from "../../../src/engines/models/test-upstreams/cog-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { connectMcp } from "../../support/mcp-client.ts";
import { cogModel, createModels, object } from "../../support/models.ts";
import { readStream } from "../../support/read-stream.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: CogServer;
let pictures: Buffer[];
let served = 0;
const route = "/api/v1/admin/lists/predict";
const image = { type: "string", format: "binary", "x-media": "image" };
const list = (more: object = {}) => ({ type: "array", items: image, ...more });
const files = createServer((_request, response) => {
  served++;
  response.end(pictures[2]);
});
const fileUrl = () => `http://127.0.0.1:${(files.address() as AddressInfo).port}/photo.png`;

beforeAll(async () => {
  const flat = (side: number) => sharp({ create: { width: side, height: side, channels: 3, background: "#369" } });
  pictures = await Promise.all([20, 21, 22].map((side) => flat(side).png().toBuffer()));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  cog = await startCog();
  gantry = await startGantry();
  const fields = { photos: list({ maxItems: 3 }), more: { ...list(), type: ["array", "null"], default: null } };
  await createModels(gantry, {
    lists: cogModel(cog.url, {
      kind: "image",
      input: object(fields, ["photos"]),
      output: object({ images: list({ maxItems: 4 }) }),
      pricing: { per_output: 0.1 },
    }),
  });
});
afterAll(async () => {
  await gantry.close();
  await cog.close();
  files.close();
});
beforeEach(() => {
  cog.output = [0, 1].map((n) => uri(n));
  cog.seen.length = 0;
  served = 0;
});

const uri = (n: number) => `data:image/png;base64,${pictures[n]?.toString("base64")}`;
const file = (n: number) => new File([new Uint8Array(pictures[n] ?? [])], `${n}.png`, { type: "image/png" });
const form = (...parts: [string, string | File][]) => {
  const data = new FormData();
  for (const [name, value] of parts) data.append(name, value);
  return data;
};
const received = () => JSON.parse(String(cog.seen.find((one) => one.path === "/predictions")?.body)).input;
async function upload(n: number): Promise<string> {
  const answer = await gantry.call("POST", "/api/v1/admin/lists/upload_file", { form: { file: file(n) } });
  return answer.body.file_input.s3_path;
}

describe("input", () => {
  test("takes repeated files", async () => {
    const answer = await gantry.call("POST", route, { form: form(["photos", file(0)], ["i_photos", file(1)]) });
    expect(answer.status, answer.text).toBe(200);
    expect(received()).toEqual({ photos: [uri(0), uri(1)] });
  });

  test("takes repeated addresses, and files beside them, in order", async () => {
    const parts = form(["photos", uri(1)], ["photos", file(0)], ["photos", fileUrl()]);
    expect((await gantry.call("POST", route, { form: parts })).status).toBe(200);
    expect(received()).toEqual({ photos: [uri(1), uri(0), uri(2)] });
    expect(served).toBe(1);
  });

  test("takes a JSON list of addresses, none of which reaches the upstream", async () => {
    const photos = JSON.stringify([await upload(1), fileUrl(), uri(0)]);
    const answer = await gantry.call("POST", route, { form: { photos } });
    expect(answer.status, answer.text).toBe(200);
    expect(received()).toEqual({ photos: [uri(1), uri(2), uri(0)] });
  });

  test("leaves out an optional list that is empty or null", async () => {
    for (const more of ["", "null"]) {
      cog.seen.length = 0;
      expect((await gantry.call("POST", route, { form: { photos: uri(0), more } })).status).toBe(200);
      expect(received()).toEqual({ photos: [uri(0)] });
    }
  });

  test.each([
    [
      "too many files",
      () => form(...Array.from({ length: 5 }, () => ["photos", file(0)] as [string, File])),
      "sequence_too_long",
      ["photos"],
    ],
    [
      "too many addresses",
      () => form(["photos", JSON.stringify(Array.from({ length: 500 }, fileUrl))]),
      "sequence_too_long",
      ["photos"],
    ],
    [
      "a file of another type",
      () => form(["photos", file(0)], ["photos", new File(["text"], "a.png")]),
      "invalid_image_format",
      ["photos", 1],
    ],
    [
      "an address of another type",
      () => form(["photos", '["data:text/plain,hello"]']),
      "invalid_image_format",
      ["photos", 0],
    ],
    [
      "a file of another user",
      () => form(["photos", '["s3://gantry/uploads/file_0/x.png"]']),
      "file_download_error",
      ["photos", 0],
    ],
    ["no address", () => form(["photos", '["hello"]']), "file_download_error", ["photos", 0]],
    ["a list of something else", () => form(["photos", "[1]"]), "json_invalid", ["photos"]],
    ["a list that is not JSON", () => form(["photos", "[x"]), "json_invalid", ["photos"]],
    ["no list", () => form(), "missing", []],
    ["an empty list", () => form(["photos", ""]), "missing", ["photos"]],
  ] as [string, () => FormData, string, (string | number)[]][])("refuses %s", async (_what, body, type, loc) => {
    const answer = await gantry.call("POST", route, { form: body() });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.detail).toHaveLength(1);
    expect(answer.body.detail[0]).toMatchObject({ type, loc: loc.length === 0 ? expect.anything() : ["body", ...loc] });
    expect(cog.seen).toEqual([]);
    expect(served).toBe(0);
  });

  test("refuses addresses in private networks", async () => {
    const guarded = await startGantry({ beside: gantry, env: { GANTRY_ALLOW_PRIVATE_NETWORK: "0" } });
    const answer = await guarded.call("POST", route, { form: { photos: JSON.stringify([fileUrl()]) } });
    expect(answer.body.detail[0]).toMatchObject({ type: "file_download_error", loc: ["body", "photos", 0] });
    expect(served).toBe(0);
    await guarded.close();
  });

  test("another order under the same Idempotency-Key is another request", async () => {
    const send = (...order: number[]) =>
      gantry.call("POST", route, {
        form: form(...order.map((n) => ["photos", file(n)] as [string, File])),
        headers: { "idempotency-key": "lists-1" },
      });
    const first = await send(0, 1);
    expect((await send(0, 1)).body.prediction_id).toBe(first.body.prediction_id);
    expect((await send(1, 0)).body.detail[0].type).toBe("idempotency_key_reused");
  });
});

describe("output", () => {
  test("has an address and a link for each file, and each is charged", async () => {
    const before = (await gantry.call("GET", "/api/v2/me")).body.balance;
    const { body } = await gantry.call("POST", route, { form: form(["photos", file(0)]) });
    expect(body.output_data.images).toEqual([expect.stringMatching(/^s3:/), expect.stringMatching(/^s3:/)]);
    expect(Object.keys(body.files)).toEqual(["images.0", "images.1"]);
    for (const n of [0, 1]) {
      const download = await fetch(body.files[`images.${n}`].url);
      expect(Buffer.from(await download.arrayBuffer()).equals(pictures[n] ?? Buffer.alloc(0))).toBe(true);
    }
    const after = (await gantry.call("GET", "/api/v2/me")).body.balance;
    expect(before - after).toBeCloseTo(0.2, 6);
    const stored = await gantry.call("GET", `/api/v2/files?prediction_id=${body.prediction_id}`);
    const own = stored.body.results.filter(
      (one: { prediction_id: string }) => one.prediction_id === body.prediction_id,
    );
    expect(own).toHaveLength(2);
  });

  test("reserves the longest list", async () => {
    const key = await gantry.newUser("reserving", { credit: 1 });
    cog.runMs = 60_000;
    const { prediction_id } = (await gantry.call("POST", `${route}/async/`, { form: { photos: uri(0) }, key })).body;
    await waitFor("the run", async () => cog.seen.length > 0);
    expect((await gantry.call("GET", "/api/v2/me", { key })).body.reserved).toBeCloseTo(0.4, 6);
    await gantry.call("POST", `${route}/cancel/`, { json: { prediction_id }, key });
    cog.runMs = 0;
  });

  test("longer than the manifest allows fails and costs nothing", async () => {
    cog.output = Array.from({ length: 5 }, () => uri(0));
    const before = (await gantry.call("GET", "/api/v2/me")).body.balance;
    const answer = await gantry.call("POST", route, { form: { photos: uri(0) } });
    expect(answer.status).toBe(502);
    expect(answer.body.detail[0].msg).toContain("returned 5 files. Its manifest allows 4");
    expect((await gantry.call("GET", "/api/v2/me")).body.balance).toBe(before);
  });

  test("of one run is the input of another", async () => {
    const first = await gantry.call("POST", route, { form: { photos: uri(0) } });
    cog.seen.length = 0;
    const photos = JSON.stringify(first.body.output_data.images);
    expect((await gantry.call("POST", route, { form: { photos } })).status).toBe(200);
    expect(received()).toEqual({ photos: [uri(0), uri(1)] });
  });
});

test("a queued prediction has the files of its list in order", async () => {
  const parts = form(["photos", file(1)], ["photos", uri(0)], ["photos", file(2)]);
  const { prediction_id } = (await gantry.call("POST", `${route}/async/`, { form: parts })).body;
  const result = await gantry.call("GET", `${route}/async/result/?request_id=${prediction_id}&wait=30`);
  const [item] = result.body.inference_responses;
  expect(item.infer_details.status, result.text).toBe(200);
  expect(received()).toEqual({ photos: [uri(1), uri(0), uri(2)] });
  expect(item.response.images).toHaveLength(2);
  expect(Object.keys(item.files)).toEqual(["images.0", "images.1"]);
});

test("a streamed prediction has the whole list in one event", async () => {
  const response = await gantry.fetch("POST", `${route}/stream/`, { form: form(["photos", file(0)]) });
  const events = await Array.fromAsync(readStream(response));
  expect(events[1].output_data.images).toHaveLength(2);
  expect(Object.keys(events[1].files)).toEqual(["images.0", "images.1"]);
});

test("MCP describes and takes a list of addresses, and links every file", async () => {
  const client = await connectMcp(gantry.url, gantry.adminKey, { mode: "legacy" });
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name.includes("lists"));
  expect(tool?.inputSchema.properties?.photos).toMatchObject({ type: "array", items: { type: "string" }, maxItems: 3 });
  const answer = await client.callTool({ name: tool?.name ?? "", arguments: { photos: [uri(0), fileUrl()] } });
  expect(received()).toEqual({ photos: [uri(0), uri(2)] });
  const content = answer.content as { type: string }[];
  expect(content.filter(({ type }) => type === "resource_link")).toHaveLength(2);
  expect(content.filter(({ type }) => type === "image")).toHaveLength(2);
  const wrong = await client.callTool({ name: tool?.name ?? "", arguments: { photos: Array(5).fill(uri(0)) } });
  expect(JSON.stringify(wrong.content)).toContain("at most 3 entries");
  await client.close();
});
