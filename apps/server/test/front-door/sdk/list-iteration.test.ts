import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const newClient = async (username: string) => createClient({ url: gantry.url, key: await gantry.newUser(username) });

/** Calls `work` for every number below `many`, some in parallel. */
async function many(count: number, make: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 10) {
    await Promise.all(Array.from({ length: Math.min(10, count - from) }, (_, at) => make(from + at)));
  }
}

const makeDrives = (client: GantryClient, count: number, name: string) =>
  many(count, (n) => client.drives.create({ name: `${name} ${n}` }));

describe("a loop over a list", () => {
  test("yields each entry once, though more than a page of new ones arrives", async () => {
    const client = await newClient("growing");
    await makeDrives(client, 220, "old");
    const told: string[] = [];
    for await (const { name } of client.drives.each()) {
      told.push(name);
      if (told.length === 100 || told.length === 190) await makeDrives(client, 130, `new ${told.length}`);
    }
    expect(new Set(told).size).toBe(told.length);
    expect(told.filter((name) => name.startsWith("old"))).toHaveLength(220);
  });

  test("yields each entry while deleting it", async () => {
    const client = await newClient("deleting");
    await makeDrives(client, 230, "old");
    for await (const { id } of client.drives.each()) await client.drives.delete(id);
    expect((await client.drives.list()).total).toBe(0);
  });

  test("yields all entries while deleting some", async () => {
    const client = await newClient("choosing");
    await makeDrives(client, 230, "old");
    let told = 0;
    for await (const { id } of client.drives.each()) if (told++ % 3 !== 0) await client.drives.delete(id);
    expect([told, (await client.drives.list()).total]).toEqual([230, 77]);
  });

  test("yields all entries while replacing them", async () => {
    const client = await newClient("renaming");
    const old = Array.from({ length: 130 }, (_, n) => `a${String(n).padStart(3, "0")}`);
    await many(old.length, (n) => client.secrets.put(old[n] ?? "", "sk-of-a-test-01"));
    const told: string[] = [];
    for await (const { name } of client.secrets.each()) {
      told.push(name);
      if (name.startsWith("z")) continue;
      await client.secrets.put(`z${name}`, "sk-of-a-test-01");
      await client.secrets.delete(name);
    }
    expect(new Set(told).size).toBe(told.length);
    expect(told.filter((name) => name.startsWith("a"))).toEqual(old);
  });

  test("yields existing usage once while more is added", async () => {
    const client = await newClient("using");
    const use = (count: number) =>
      many(count, async (n) => {
        for await (const _ of client.stream("gantry/rules", { prompt: `${n}`, max_tokens: 1 }));
      });
    await use(110);
    const before = new Set((await Array.fromAsync(client.account.eachUsage())).map(({ request_id }) => request_id));
    expect(before.size).toBe(110);
    const told: string[] = [];
    for await (const { request_id } of client.account.eachUsage()) {
      told.push(request_id);
      if (told.length === 100) await use(110);
    }
    expect(told).toHaveLength(110);
    expect(new Set(told)).toEqual(before);
  }, 40_000);

  test("walks a drive whose files and directories are deleted meanwhile", async () => {
    const client = await newClient("clearing");
    const { id } = await client.drives.create({ name: "full" });
    const paths = ["/a/b/one", "/a/b/two", "/c/three", "/d/four", "/five"];
    for (const path of paths) await client.drives.files.upload(id, path, path);
    const told: string[] = [];
    for await (const { type, path } of client.drives.eachItem(id, { recursive: true })) {
      told.push(path);
      if (path === "/c") await client.drives.deleteTree(id, path);
      else if (type === "file") await client.drives.files.delete(id, path);
    }
    expect(told).toEqual(["/a", "/a/b", "/a/b/one", "/a/b/two", "/c", "/d", "/d/four", "/five"]);
    expect((await client.drives.items(id)).items).toEqual([]);
  });
});
