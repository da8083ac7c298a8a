import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileRecord, newId } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type FileRecord } from "../../../../../packages/sdk/src/index.ts";
import { firstIdAt } from "../../../src/kernel/first-id-at.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
const at = "/api/v1/gantry/image";
const bound = 100_000;

beforeAll(async () => {
  gantry = await startGantry({ env: { GANTRY_UPLOAD_BYTES_PER_USER: String(bound) } });
});
afterAll(() => gantry.close());

const storedFiles = async () =>
  (await readdir(join(gantry.home, "blobs"), { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
    .length;
const upload = (key: string, size: number, name = "a.txt") =>
  gantry.call("POST", `${at}/upload_file`, { key, form: { file: new File(["x".repeat(size)], name) } });
const list = async (key: string, query = "") => (await gantry.call("GET", `/api/v2/files${query}`, { key })).body;
const remove = (key: string, id: string) => gantry.call("DELETE", `/api/v2/files/${id}`, { key });

describe("the file list", () => {
  test("has a file whose link would be too long for the address of this server", async () => {
    const key = await gantry.newUser("verbose");
    const named = (length: number) => {
      const file = new File(["text"], `${"\u6587".repeat(length)}.jsonl`);
      return gantry.call("POST", "/v1/files", { key, form: { purpose: "batch", file } });
    };
    let length = 249;
    while (length > 100 && (await named(length)).status !== 200) length--;
    const longer = await startGantry({
      beside: gantry,
      env: { GANTRY_PUBLIC_URL: "http://a-much-longer-name-of-this-server.example.com" },
    });
    const { status, body } = await longer.call("GET", "/api/v2/files", { key });
    expect([status, body.results?.map(({ link }: FileRecord) => link)]).toEqual([200, [null]]);
    await longer.close();
  });

  test("has the caller's uploads and outputs, newest first, in pages", async () => {
    const key = await gantry.newUser("lister");
    await upload(await gantry.newUser("another"), 10);
    await upload(key, 5, "first.txt");
    const made = await gantry.call("POST", `${at}/predict`, { key, form: { prompt: "a harbour", size: "1280x720" } });
    expect(made.status, made.text).toBe(200);
    const link = await gantry.call("GET", `${at}/upload_url?filename=later.png&content_type=image/png`, { key });

    const { results, ...page } = await list(key);
    expect(page).toEqual({ page: 1, page_size: 20, total_count: 3, total_pages: 1, searched_from: null });
    for (const entry of results) expect(fileRecord.parse(entry)).toEqual(entry);
    expect(results).toMatchObject([
      { origin: "link", s3_path: link.body.file_input.s3_path, content_type: "image/png", size: null, link: null },
      {
        origin: "output",
        s3_path: made.body.output_data.image,
        prediction_id: made.body.prediction_id,
        model_name: "gantry/image",
        prompt: "a harbour",
      },
      { origin: "uploaded", content_type: "text/plain", size: 5, prediction_id: null },
    ]);
    const picture = await fetch(results[1].link);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    const second = await list(key, "?page=2&page_size=2");
    expect(second).toMatchObject({ results: [{ id: results[2].id }], total_count: 3, total_pages: 2 });
    expect((await gantry.call("GET", "/api/v2/files?page=0", { key })).status).toBe(422);
    expect((await gantry.call("GET", "/api/v2/files", { key: "" })).status).toBe(401);
  });

  test("is filtered by name, prompt, id and origin", async () => {
    const key = await gantry.newUser("searcher");
    await upload(key, 5, "Harbour.txt");
    await upload(key, 5, "very_sure.txt");
    const made = await gantry.call("POST", `${at}/predict`, { key, form: { prompt: "a harbour", size: "1280x720" } });
    const found = async (query: string) =>
      (await list(key, query)).results.map(({ s3_path }: FileRecord) => s3_path.slice(s3_path.lastIndexOf("/") + 1));
    expect(await found("?q=harb")).toEqual(["image.jpg", "Harbour.txt"]);
    expect(await found("?q=A%20HARB")).toEqual(["image.jpg"]);
    expect(await found("?q=y_s")).toEqual(["very_sure.txt"]);
    expect(await found("?q=b_u")).toEqual([]);
    // Folders of the address are not part of the name.
    expect(await found("?q=uploads")).toEqual([]);
    expect(await found(`?q=${made.body.prediction_id}`)).toEqual(["image.jpg"]);
    expect(await found("?origin=output")).toEqual(["image.jpg"]);
    expect(await found("?origin=output&q=txt")).toEqual([]);
    expect((await list(key, "?q=harb")).total_count).toBe(2);
    expect((await gantry.call("GET", "/api/v2/files?origin=stolen", { key })).status).toBe(422);
  });

  test("is searched among the newest 50,000, and further back on request", async () => {
    const key = await gantry.newUser("hoarder");
    await upload(key, 5, "needle.txt");
    const [{ id, created_at }] = (await list(key)).results;
    const first = Date.parse(created_at) + 1_000;
    const ids = Array.from({ length: 50_000 }, (_, n) => firstIdAt("file", new Date(first + n)) + "0".repeat(16));
    await gantry.database.sql`
      insert into files (key, id, owner_id, origin, max_bytes, created_at)
      select 'uploads/' || n || '/straw.txt', n, u.id, 'link', 1, now()
      from unnest(${ids}::text[]) n, users u where u.username = 'hoarder'`;
    const near = await list(key, "?q=needle");
    expect(near).toMatchObject({ results: [], total_count: 0, searched_from: new Date(first).toISOString() });
    const older = await list(key, `?q=needle&to_date=${near.searched_from}`);
    expect(older).toMatchObject({ results: [{ id }], total_count: 1, searched_from: null });
    const { files } = createClient({ url: gantry.url, key });
    expect(await Array.fromAsync(files.each({ q: "needle" }), (file) => file.id)).toEqual([id]);
    expect(await list(key, `?q=${id}`)).toMatchObject({ results: [{ id }], searched_from: null });
    expect((await list(key, `?from_date=${near.searched_from}`)).total_count).toBe(50_000);
    expect((await gantry.call("GET", "/api/v2/files?to_date=soon", { key })).status).toBe(422);
  });

  test("can be iterated with the SDK while deleting", async () => {
    const key = await gantry.newUser("sweeper");
    const { files } = createClient({ url: gantry.url, key });
    for (let n = 0; n < 3; n++) await files.upload("gantry/image", new Blob([`file ${n}`]), { filename: `${n}.txt` });
    const told: FileRecord[] = [];
    for await (const file of files.each()) {
      told.push(file);
      await files.delete(file.id);
    }
    expect(told.map((file) => file.s3_path.at(-5))).toEqual(["2", "1", "0"]);
    expect((await files.list()).total_count).toBe(0);
    await expect(files.delete(told[0]?.id ?? "")).rejects.toMatchObject({ status: 404 });
  });
});

describe("deleting a file", () => {
  test("removes its bytes, its address and its links", async () => {
    const key = await gantry.newUser("deleter");
    const before = await storedFiles();
    const { url, file_input: input } = (await upload(key, 20)).body;
    const [entry] = (await list(key)).results;
    for (const [who, id] of [
      [await gantry.newUser("thief"), entry.id],
      [key, newId("file")],
      [key, "nothing"],
    ]) {
      const refused = await remove(who, id);
      expect(refused.body).toEqual({ detail: "File not found", status_code: 404 });
    }
    expect((await fetch(url)).status).toBe(200);

    expect((await remove(key, entry.id)).status).toBe(204);
    expect(await storedFiles()).toBe(before);
    expect((await fetch(url)).status).toBe(404);
    const query = new URLSearchParams({ s3_path_to_sign: input.s3_path });
    expect((await gantry.call("GET", `${at}/download_s3_url?${query}`, { key })).status).toBe(404);
    expect((await list(key)).results).toEqual([]);
    expect((await remove(key, entry.id)).status).toBe(404);
  });

  test("ends its upload link, also for a started upload", async () => {
    const key = await gantry.newUser("linker");
    const link = (await gantry.call("GET", `${at}/upload_url`, { key })).body;
    expect((await fetch(link.url, { method: "PUT", body: "once" })).status).toBe(200);
    expect((await remove(key, (await list(key)).results[0].id)).status).toBe(204);
    expect((await fetch(link.url, { method: "PUT", body: "again" })).status).toBe(404);
    expect((await list(key)).total_count).toBe(0);
  });

  test("is refused for an output while its prediction has not ended", async () => {
    const key = await gantry.newUser("maker");
    const made = await gantry.call("POST", `${at}/predict`, { key, form: { prompt: "a harbour", size: "1280x720" } });
    const { prediction_id: predictionId } = made.body;
    const [{ id }] = (await list(key)).results;
    const { sql } = gantry.database;
    await sql`
      insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until, holder)
      values (${predictionId}, 'usr_a', 'key_a', 'mdl_1', 'a/b', 'sync', now() + interval '1 hour',
        (select id from nodes limit 1))`;
    const refused = await remove(key, id);
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      `The file is an output of prediction ${predictionId}, which is still active. Cancel it or wait for its end.`,
    ]);
    await sql`delete from live_predictions where id = ${predictionId}`;
    expect((await remove(key, id)).status).toBe(204);
  });
});

describe("the upload quota", () => {
  test("refuses uploads beyond it and is freed by deletion", async () => {
    const key = await gantry.newUser("hoarder");
    expect((await upload(key, 60_000)).status).toBe(200);
    const before = await storedFiles();
    const refused = await upload(key, 50_000);
    expect(refused.status, refused.text).toBe(413);
    expect(refused.headers.get("x-service-retryable")).toBe("false");
    expect(refused.body.detail[0]).toMatchObject({
      type: "storage_quota_exceeded",
      msg: expect.stringContaining("You store 60000 of the 100000 bytes"),
      ctx: { max_size: bound, stored: 60_000 },
    });
    expect([await storedFiles(), (await list(key)).total_count]).toEqual([before, 1]);
    expect((await upload(key, 40_000)).status).toBe(200);

    const link = await gantry.call("GET", `${at}/upload_url`, { key });
    expect([link.status, link.body.detail[0].type]).toEqual([413, "storage_quota_exceeded"]);
    const huge = await upload(await gantry.newUser("giant"), 400_000);
    expect([huge.status, huge.body.detail[0].type]).toEqual([413, "storage_quota_exceeded"]);

    await remove(key, (await list(key)).results[0].id);
    expect((await upload(key, 40_000)).status).toBe(200);
  });

  test("is never exceeded by concurrent uploads and links", async () => {
    const key = await gantry.newUser("crowd");
    const links = await Promise.all(Array.from({ length: 4 }, () => gantry.call("GET", `${at}/upload_url`, { key })));
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, async () => (await upload(key, 30_000)).status),
      ...links.map(async ({ body }) => (await fetch(body.url, { method: "PUT", body: "x".repeat(30_000) })).status),
    ]);
    expect(answers.filter((status) => status === 200)).toHaveLength(3);
    expect(answers.filter((status) => status === 413)).toHaveLength(7);
    const sizes = (await list(key)).results.map(({ size }: FileRecord) => size ?? 0);
    expect(sizes.reduce((sum: number, size: number) => sum + size, 0)).toBe(90_000);
  });

  test("keeps a link's earlier file when a replacement is refused, and counts a replacement once", async () => {
    const key = await gantry.newUser("replacer");
    const { url, file_input: input } = (await gantry.call("GET", `${at}/upload_url`, { key })).body;
    const bring = (size: number) => fetch(url, { method: "PUT", body: "x".repeat(size) });
    expect((await bring(69_000)).status).toBe(200);
    expect((await upload(key, 30_000)).status).toBe(200);
    const refused = await bring(90_000);
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain("You store 99000 of the 100000 bytes");
    const query = new URLSearchParams({ s3_path_to_sign: input.s3_path });
    const link = await gantry.call("GET", `${at}/download_s3_url?${query}`, { key });
    expect(link.status, link.text).toBe(200);
    expect((await (await fetch(link.body.url)).text()).length).toBe(69_000);
    expect((await bring(70_000)).status).toBe(200);
  });

  test("does not log a server error", async () => {
    expect((await upload(await gantry.newUser("logged"), 400_000)).status).toBe(413);
    const lines = gantry.logged().trim().split("\n");
    expect(lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  test("does not count outputs of predictions", async () => {
    const key = await gantry.newUser("painter");
    expect((await upload(key, bound)).status).toBe(200);
    const made = await gantry.call("POST", `${at}/predict`, { key, form: { prompt: "a harbour", size: "1280x720" } });
    expect(made.status, made.text).toBe(200);
  });
});
