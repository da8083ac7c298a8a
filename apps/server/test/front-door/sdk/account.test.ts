import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let client: GantryClient;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
});
afterAll(() => gantry.close());

const newClient = async (username: string) => createClient({ url: gantry.url, key: await gantry.newUser(username) });
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );

describe("files", () => {
  test.each([false, true])("are uploaded, used, linked and downloaded (direct: %s)", async (direct) => {
    const png = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#2060c0" } })
      .png()
      .toBuffer();
    const blob = new Blob([new Uint8Array(png)], { type: "image/png" });
    const stored = await client.files.upload("gantry/image", blob, { filename: 'a "blue" é.png', direct });
    expect(stored).toMatchObject({ size: png.length, content_type: "image/png", link: { method: "GET" } });
    expect(stored.s3_path).toMatch(/^s3:\/\/gantry\/uploads\//);
    const done = await client.predict("gantry/image", { prompt: "x", size: "1280x720", image: stored.s3_path });
    expect(done.status).toBe(200);
    const link = await client.files.link("gantry/image", stored.s3_path);
    for (const file of [link, link.url, stored.link]) {
      expect(Buffer.from(await (await client.files.download(file)).bytes())).toEqual(png);
    }
    const part = await client.files.download(link, { headers: { range: "bytes=1-3" } });
    expect([part.status, await part.text()]).toEqual([206, "PNG"]);
    const other = await newClient(`other-${direct}`);
    expect(await failureOf(other.files.link("gantry/image", stored.s3_path))).toMatchObject({ status: 404 });
  });

  test("have a name, and links that can be shared", async () => {
    const stored = await client.files.upload("gantry/image", new File(["any bytes"], "notes.txt"));
    expect(stored.s3_path).toMatch(/\/notes\.txt$/);
    const odd = await client.files.upload("gantry/image", new File(["odd bytes"], "odd\\"));
    expect(await (await client.files.download(odd.link)).text()).toBe("odd bytes");
    const link = await client.files.uploadLink("gantry/image", { filename: "later.txt", content_type: "text/plain" });
    expect(link).toMatchObject({ method: "PUT", file_input: { s3_path: expect.stringMatching(/later\.txt$/) } });
    const wrong = link.url.replace(/X-Amz-Signature=../, "X-Amz-Signature=zz");
    expect(await failureOf(client.files.download(wrong))).toMatchObject({ status: 403, type: "forbidden" });
    expect(await failureOf(client.files.link("gantry/image", "nowhere"))).toMatchObject({ type: "url_parsing" });
  });
});

test("models are listed, and each has a card and a schema", async () => {
  const list = await client.models.list({ kind: "text", q: "rules", page_size: 1 });
  expect(list).toMatchObject({ page: 1, page_size: 1, results: [{ kind: "text" }] });
  expect(await client.models.card("gantry/image")).toMatchObject({
    endpoint_id: "gantry/image",
    kind: "image",
    pricing: { per_request: 0.03 },
    input: { properties: { prompt: { type: "string" } } },
  });
  const document = await client.models.openapi("gantry/image");
  expect(document).toMatchObject({ openapi: "3.1.0", components: { schemas: { DynamicInputModel: {} } } });
});

describe("the account", () => {
  test("has a balance, usage in pages and by iteration, and expenses", async () => {
    const user = await newClient("spender");
    expect(await user.me()).toMatchObject({ username: "spender", balance: 10, currency: "USD" });
    expect(await user.account.me()).toEqual(await user.me());
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.unshift((await user.predict("gantry/image", { prompt: `${n}`, size: "1280x720" })).prediction_id);
    }
    const from_date = new Date(Date.now() - 3_600_000);
    const page = await user.account.usage({ page: 2, page_size: 2, from_date, to_date: new Date() });
    expect(page).toMatchObject({ total_count: 3, total_pages: 2, results: [{ request_id: ids[2], price: 0.03 }] });
    const all = await Array.fromAsync(user.account.eachUsage({ from_date }), ({ request_id }) => request_id);
    expect(all).toEqual(ids);
    expect(await Array.fromAsync(user.account.eachUsage({ to_date: from_date }))).toEqual([]);
    const expenses = await user.account.expenses();
    expect(expenses).toMatchObject({ total_count: 3, total_spent: 0.09, results: [{ model_name: "gantry/image" }] });
    expect(await client.account.expenses({ username: "spender", start_date: from_date })).toMatchObject({
      total_spent: 0.09,
    });
    expect(await failureOf(user.account.expenses({ username: "admin" }))).toMatchObject({ status: 403 });
    // A username may equal the name of a list.
    expect(await (await newClient("keys")).account.expenses()).toMatchObject({ total_count: 0 });
    const paid = ids.map((reference) => ({ kind: "charge", amount: -0.03, reference, reason: null }));
    const given = { kind: "credit", amount: 10, reference: null };
    const shown = await Array.fromAsync(user.account.eachLedgerEntry());
    expect(shown).toMatchObject([...paid, given]);
    expect(await user.account.ledger({ page_size: 1, page: 4, from_date })).toMatchObject({
      results: [shown[3]],
      total_count: 4,
    });
    expect(await Array.fromAsync(client.admin.users.eachLedgerEntry("spender"))).toEqual(shown);
    expect((await client.admin.users.ledger("spender", { to_date: from_date })).results).toEqual([]);
    expect(await failureOf(user.admin.users.ledger("admin"))).toMatchObject({ status: 403 });
    expect(await failureOf(client.admin.users.ledger("unknown"))).toMatchObject({ status: 404 });
    expect(await failureOf(user.account.usage({ page: 0 }))).toMatchObject({ type: "greater_than_equal" });
    expect((await client.checkBooks()).discrepancies).toEqual([]);
  });

  test("has keys that are created, listed, rotated and revoked", async () => {
    const user = await newClient("keeper");
    const made = await user.account.keys.create({ name: "laptop", models: ["gantry/image"], monthly_limit: 5 });
    const as = (key = "") => createClient({ url: gantry.url, key });
    expect((await as(made.key).me()).username).toBe("keeper");
    const { results } = await user.account.keys.list({ page_size: 100 });
    expect(results.find(({ id }) => id === made.id)).toMatchObject({ name: "laptop", monthly_limit: 5 });
    const rotated = await user.account.keys.rotate(made.id, { grace_seconds: 60 });
    expect([rotated.id, rotated.key === made.key]).toEqual([made.id, false]);
    expect((await as(made.key).me()).username).toBe("keeper");
    const last = await user.account.keys.rotate(made.id);
    expect(await failureOf(as(rotated.key).me())).toMatchObject({ status: 401 });
    await user.account.keys.revoke(made.id);
    expect(await failureOf(as(last.key).me())).toMatchObject({ status: 401, type: "unauthorized" });
    expect(await failureOf(user.account.keys.revoke(made.id))).toMatchObject({ status: 404 });
  });
});
