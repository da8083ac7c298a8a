import { meRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { inTurn, startScriptedLlm, toolResults } from "../../support/scripted-llm.ts";

/** Uploads, drives and stored responses share one quota per user. */

let gantry: GantryNode;
let second: GantryNode;
const quota = 100_000;
beforeAll(async () => {
  const env = { GANTRY_UPLOAD_BYTES_PER_USER: String(quota) };
  gantry = await startGantry({ env });
  second = await startGantry({ env, beside: gantry });
});
afterAll(async () => {
  await second.close();
  await gantry.close();
});

const text = (size: number) => "x".repeat(size);
const upload = (key: string, size: number, on = gantry) =>
  on.call("POST", "/api/v1/gantry/image/upload_file", { key, form: { file: new File([text(size)], "a.txt") } });
const newDrive = async (key: string): Promise<string> =>
  (await gantry.call("POST", "/v1/drives", { key, json: { name: "d" } })).body.id;
const create = (key: string, drive: string, path: string, size: number, on = gantry) =>
  on.call("POST", `/v1/drives/${drive}/files`, { key, form: { path, file: new File([text(size)], "a.txt") } });
const replace = (key: string, drive: string, path: string, size: number) =>
  gantry.call("PUT", `/v1/drives/${drive}/files${path}`, { key, form: { file: new File([text(size)], "a.txt") } });
const remove = (key: string, path: string) => gantry.call("DELETE", path, { key });
const storageOf = async (key: string) => {
  const { body } = await gantry.call("GET", "/api/v2/me", { key });
  return meRecord.parse(body).storage;
};

describe("drive content", () => {
  test("counts with uploads, is refused beyond the quota, and frees it when deleted", async () => {
    const key = await gantry.newUser("collector");
    const [first, other] = [await newDrive(key), await newDrive(key)];
    expect((await upload(key, 40_000)).status).toBe(200);
    expect((await create(key, first, "/a/b.txt", 50_000)).status).toBe(201);
    expect(await storageOf(key)).toEqual({ used_bytes: 90_000, allowed_bytes: quota });

    for (const refused of [
      await create(key, other, "/c.txt", 10_001),
      await replace(key, first, "/a/b.txt", 60_001),
      await create(key, other, "/huge.txt", 5_000_000),
    ]) {
      expect(refused.status, refused.text).toBe(413);
      expect(refused.body.error).toMatchObject({
        type: "storage_quota_exceeded",
        message: expect.stringContaining("You store 90000 of the 100000 bytes"),
      });
    }
    expect((await upload(key, 10_001)).status).toBe(413);
    expect(await storageOf(key)).toMatchObject({ used_bytes: 90_000 });

    // A replacement counts instead of the old file.
    expect((await replace(key, first, "/a/b.txt", 60_000)).status).toBe(200);
    expect((await replace(key, first, "/a/b.txt", 5000)).status).toBe(200);
    expect((await create(key, other, "/c.txt", 10_001)).status).toBe(201);
    expect(await storageOf(key)).toMatchObject({ used_bytes: 55_001 });

    expect((await remove(key, `/v1/drives/${other}/files/c.txt`)).status).toBe(204);
    expect(await storageOf(key)).toMatchObject({ used_bytes: 45_000 });
    expect((await remove(key, `/v1/drives/${first}/tree/a`)).status).toBe(204);
    expect(await storageOf(key)).toMatchObject({ used_bytes: 40_000 });
    expect((await create(key, other, "/d/e.txt", 1)).status).toBe(201);
    expect((await create(key, other, "/d/f.txt", 2)).status).toBe(201);
    expect((await remove(key, `/v1/drives/${other}`)).status).toBe(204);
    expect(await storageOf(key)).toMatchObject({ used_bytes: 40_000 });
  });

  test("never exceeds the quota, with concurrent writes on two servers", async () => {
    const key = await gantry.newUser("crowd");
    const drives = await Promise.all(Array.from({ length: 4 }, () => newDrive(key)));
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const on = n % 2 === 0 ? gantry : second;
        return n % 4 === 3 ? upload(key, 15_000, on) : create(key, drives[n % 3] ?? "", `/${n}.txt`, 15_000, on);
      }),
    );
    const kept = answers.filter(({ status }) => status < 300);
    expect(kept).toHaveLength(6);
    expect(answers.filter(({ status }) => status === 413)).toHaveLength(18);
    expect(await storageOf(key)).toEqual({ used_bytes: 90_000, allowed_bytes: quota });
    const [held] = await gantry.database.sql<{ bytes: number }[]>`
      select (select coalesce(sum(i.size), 0) from drive_items i join drives d on d.id = i.drive_id
          join users u on u.id = d.owner_id where u.username = 'crowd')
        + (select coalesce(sum(size), 0) from files f join users u on u.id = f.owner_id
          where u.username = 'crowd' and f.origin <> 'output') as bytes`;
    expect(Number(held?.bytes)).toBe(90_000);
  });

  test("counts for the drive's owner when an agent writes it, and the model learns of a refusal", async () => {
    const key = await gantry.newUser("writer");
    const drive = await newDrive(key);
    const llm = await startScriptedLlm();
    const string = { type: "string" };
    await gantry.call("PUT", "/api/v1/writer/llm", {
      key,
      json: {
        title: "A language model",
        kind: "text",
        input: { type: "object", properties: { prompt: string }, required: ["prompt"] },
        output: { type: "object", properties: { output: { ...string, isStream: true } } },
        backend: { type: "openai-chat", url: llm.url, model: "x" },
      },
    });
    const json = { name: "W", goal: "g", tools: ["drive_write"], drives: [drive], model: "writer/llm" };
    const { id } = (await gantry.call("POST", "/v1/agents", { key, json })).body;
    await gantry.call("POST", `/v1/agents/${id}/publish`, { key, json: {} });
    const write = (path: string, size: number) => ({ name: "drive_write", args: { path, content: text(size) } });
    llm.script = inTurn({ calls: [write("/a", 60_000)] }, { calls: [write("/b", 60_000)] }, { text: "done" });
    const run = await gantry.call("POST", `/v1/agents/${id}/runs`, { key, json: { input: {}, wait: 20 } });
    expect(run.body.status, run.text).toBe("done");
    expect(toolResults(llm.requests.at(-1)).at(-1)).toContain("You store 60000 of the 100000 bytes");
    expect(await storageOf(key)).toMatchObject({ used_bytes: 60_000 });
    await llm.close();
  });
});

describe("the quota of a plan", () => {
  const putPlan = (json: object) =>
    gantry.call("PUT", "/api/v2/admin/plans/shelf", { json: { requests_per_minute: null, parallel: null, ...json } });

  test("overrides the server's default; null is the default, 0 allows nothing, omitted changes nothing", async () => {
    expect((await putPlan({})).body.storage_bytes).toBeNull();
    const key = await gantry.newUser("shelved", { plan: "shelf" });
    expect(await storageOf(key)).toEqual({ used_bytes: 0, allowed_bytes: quota });
    expect((await putPlan({ storage_bytes: 1000 })).body.storage_bytes).toBe(1000);
    expect((await putPlan({})).body.storage_bytes).toBe(1000);
    expect(await storageOf(key)).toEqual({ used_bytes: 0, allowed_bytes: 1000 });
    const drive = await newDrive(key);
    expect((await create(key, drive, "/a", 1001)).status).toBe(413);
    expect((await upload(key, 1001)).status).toBe(413);
    expect((await create(key, drive, "/a", 1000)).status).toBe(201);

    // A user above a smaller plan's quota can still shrink files.
    await putPlan({ storage_bytes: 500 });
    expect((await replace(key, drive, "/a", 1001)).status).toBe(413);
    expect((await replace(key, drive, "/a", 900)).status).toBe(200);

    await putPlan({ storage_bytes: 0 });
    expect(await storageOf(key)).toEqual({ used_bytes: 900, allowed_bytes: null });
    expect((await create(key, drive, "/b", 150_000)).status).toBe(201);
    await putPlan({ storage_bytes: null });
    expect((await upload(key, 1)).status).toBe(413);
    expect((await putPlan({ storage_bytes: -1 })).status).toBe(422);

    const admin = createClient({ url: gantry.url, key: gantry.adminKey }).admin;
    const limits = { requests_per_minute: null, parallel: null, storage_bytes: 7 };
    expect(await admin.plans.put("shelf", limits)).toMatchObject({ storage_bytes: 7 });
  });
});

test("stored responses count, are refused beyond the quota, and free it when deleted", async () => {
  const key = await gantry.newUser("talker");
  const respond = (size: number, store?: boolean) =>
    gantry.call("POST", "/v1/responses", { key, json: { model: "gantry/rules", input: text(size), store } });
  const first = await respond(60_000);
  expect(first.status, first.text).toBe(200);
  const used = (await storageOf(key)).used_bytes;
  expect(used).toBeGreaterThan(60_000);
  const refused = await respond(60_000);
  expect([refused.status, refused.body.error.message]).toEqual([413, expect.stringContaining("stored responses")]);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect((await respond(60_000, false)).status).toBe(200);
  expect((await storageOf(key)).used_bytes).toBe(used);
  expect((await remove(key, `/v1/responses/${first.body.id}`)).status).toBe(200);
  expect((await storageOf(key)).used_bytes).toBe(0);
});
