import type { Manifest } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { defaultTextManifest, textManifest, textModels } from "../../engines/models/builtin/text-manifests.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { type Caller, openAccounts } from "../accounts/index.ts";
import { type Models, openModels, seedModels } from "./index.ts";

const log = createLog("silent");
const builtins = ["image", "rules"];

let stored: Awaited<ReturnType<typeof testDatabase>>;
let here: Models;
let there: Models;
let admin: Caller;
let closeAccounts: () => Promise<void>;

beforeAll(async () => {
  stored = await testDatabase();
  const { database } = stored;
  const accounts = await openAccounts({ database, clock: systemClock, log });
  closeAccounts = () => accounts.close();
  const key = "an-operator-key-of-more-than-32-characters";
  await accounts.bootstrap(key);
  admin = await accounts.authenticate(key);
  here = await openModels({ database, log, builtins });
  there = await openModels({ database, log, builtins });
});

afterAll(async () => {
  await here.close();
  await there.close();
  await closeAccounts();
  await stored.drop();
});

const backend = { type: "cog", url: "http://cog.example" };
const body = { ...textManifest, backend };

describe("two nodes on one database", () => {
  test("a change is visible at once on its node and after an announcement on the other", async () => {
    // What a node remembers never gets old: only the announcement can change it.
    vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => void vi.restoreAllMocks());
    await here.putModel(admin, "admin", "m", body);
    expect((await here.getModel("admin/m"))?.version).toBe(1);
    expect((await there.getModel("admin/m"))?.version).toBe(1);
    await here.patchModel(admin, "admin", "m", { capacity: 0 });
    expect((await here.getModel("admin/m"))?.manifest.capacity).toBe(0);
    await expect.poll(async () => (await there.getModel("admin/m"))?.manifest.capacity, { interval: 10 }).toBe(0);
    await expect(here.resolveForCall(admin, "admin", "m")).rejects.toThrow("Project is not active");

    await there.deleteModel(admin, "admin", "m");
    expect(await there.getModel("admin/m")).toBeUndefined();
    await expect.poll(() => here.getModel("admin/m"), { interval: 10 }).toBeUndefined();
    await expect(here.resolveForCall(admin, "admin", "m")).rejects.toThrow("Project not found");

    await there.putModel(admin, "admin", "m", body);
    expect((await here.getModel("admin/m"))?.version).toBe(1);
  });

  test("a lost announcement is repaired by expiry", async () => {
    await here.putModel(admin, "admin", "quiet", body);
    await there.getModel("admin/quiet");
    await stored.database.sql`update models set version = 99 where name = 'quiet'`;
    await expect.poll(async () => (await there.getModel("admin/quiet"))?.version).toBe(99);
  });

  test("a model in use is the same object until it changes", async () => {
    await here.putModel(admin, "admin", "steady", body);
    // Its own announcement comes back to this node too, and would set aside a lookup under way.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const first = await here.getModel("admin/steady");
    await stored.database.sql`select pg_notify('models_changed', 'admin/steady')`;
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await here.getModel("admin/steady")).toBe(first);
    await here.patchModel(admin, "admin", "steady", { title: "Other" });
    expect(await here.getModel("admin/steady")).not.toBe(first);
  });
});

describe("the built-in models", () => {
  const seed = (name: string, manifest: Manifest) => seedModels(stored.database, [{ owner: "gantry", name, manifest }]);
  const read = async (name: string) => {
    const [row] = await stored.database.sql<{ manifest: Manifest; version: number }[]>`
      select m.manifest, m.version from models m join users u on u.id = m.owner_id
      where u.username = 'gantry' and m.name = ${name} and m.retired_at is null`;
    return row;
  };

  test("are created once by three concurrent starts", async () => {
    const seeds = textModels({});
    await Promise.all(Array.from({ length: 3 }, () => seedModels(stored.database, seeds)));
    const rows = await stored.database.sql<{ version: number }[]>`
      select m.version from models m join users u on u.id = m.owner_id where u.role = 'system'`;
    expect(rows.map((row) => row.version)).toEqual([1, 1, 1]);
    for (const { owner, name, manifest } of seeds) {
      expect((await here.getModel(`${owner}/${name}`))?.manifest).toEqual(manifest);
    }
  });

  test("follow the shipped manifest, except patched fields", async () => {
    await seed("a", textManifest);
    await here.patchModel(admin, "gantry", "a", { pricing: { per_request: 1 } });
    const next = { ...textManifest, description: "Better.", pricing: { per_request: 9 }, capacity: 8 };
    await Promise.all([seed("a", next), seed("a", next), seed("a", next)]);
    expect(await read("a")).toEqual({ manifest: { ...next, pricing: { per_request: 1 } }, version: 3 });
    await seed("a", next);
    expect((await read("a"))?.version).toBe(3);
    await expect.poll(async () => (await here.getModel("gantry/a"))?.manifest.capacity).toBe(8);
  });

  test("stay unchanged if the patch does not fit the new manifest", async () => {
    await seed("b", textManifest);
    const output = { type: "object", properties: { n: { type: "integer" } } };
    await here.patchModel(admin, "gantry", "b", { kind: "other", context_window: null, output });
    await seed("b", { ...textManifest, model_size_in_billions: 7 });
    expect(await read("b")).toMatchObject({ manifest: { kind: "other", output }, version: 2 });
  });

  test("stay unchanged after they were replaced or retired", async () => {
    await seed("c", textManifest);
    await here.putModel(admin, "gantry", "c", body);
    await seed("c", { ...textManifest, capacity: 3 });
    expect(await read("c")).toMatchObject({ manifest: { backend, capacity: textManifest.capacity } });
    await here.deleteModel(admin, "gantry", "c");
    await seed("c", textManifest);
    expect(await read("c")).toBeUndefined();
  });

  test("the default goes where the environment says", async () => {
    expect(defaultTextManifest({ anthropicKey: true, llmUrl: "http://x" })).toMatchObject({
      backend: { type: "anthropic", secret: "ANTHROPIC_API_KEY" },
      pricing: { per_million_input_tokens: 3, per_million_cached_tokens: 0.3, per_million_output_tokens: 15 },
    });
    expect(defaultTextManifest({ llmUrl: "http://127.0.0.1:11434/v1", llmModel: "m" })).toMatchObject({
      backend: { type: "openai-chat", url: "http://127.0.0.1:11434/v1", model: "m" },
      pricing: {},
    });
    expect(defaultTextManifest({})).toMatchObject({ backend: { type: "builtin", model: "rules" }, pricing: {} });
    for (const environment of [{ anthropicKey: true }, { llmUrl: "http://127.0.0.1:1/v1" }, {}]) {
      await seedModels(stored.database, textModels(environment));
      await expect
        .poll(async () => (await here.getModel("anthropic/default"))?.manifest)
        .toEqual(defaultTextManifest(environment));
    }
  });

  test("an invalid seed or a missing owner fails at start", async () => {
    await expect(
      seedModels(stored.database, [{ owner: "stranger", name: "x", manifest: textManifest }]),
    ).rejects.toThrow("owner of the built-in model stranger/x does not exist");
    await expect(seed("x", { ...textManifest, capacity: -1 })).rejects.toThrow("capacity");
  });
});
