import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** An admin hides an agent or a model from everyone except its owner. */

let gantry: GantryNode;
let admin: GantryClient["admin"];
let [owner, other] = ["", ""];
beforeAll(async () => {
  gantry = await startGantry();
  admin = createClient({ url: gantry.url, key: gantry.adminKey }).admin;
  [owner, other] = [await gantry.newUser("owner"), await gantry.newUser("other")];
});
afterAll(() => gantry.close());

const call = (method: string, path: string, key: string, json?: object) =>
  gantry.call(method, path, { key, ...(json && { json }) });
const statusOf = async (...args: Parameters<typeof call>) => (await call(...args)).status;
const reason = "It asks for passwords.";
const mark = { at: expect.any(String), reason };

describe("an agent", () => {
  test("is hidden from others; its owner sees the reason and cannot publish it; restoring brings it back unchanged", async () => {
    const json = { name: "Phisher", goal: "g", tools: [], model: "gantry/rules", visibility: "public" };
    const { id, slug } = (await call("POST", "/v1/agents", owner, json)).body;
    const parent = { name: "Parent", goal: "g", tools: [{ type: "agent", agent_id: id }], model: "gantry/rules" };
    await call("POST", `/v1/agents/${id}/publish`, owner, {});
    const at = `/v1/agents/${id}`;
    const listed = async () => (await call("GET", "/v1/marketplace/agents?q=phisher", other)).body.total;
    expect([await listed(), await statusOf("GET", at, other)]).toEqual([1, 200]);

    expect(await admin.takeDowns.agent(id, reason)).toMatchObject({ kind: "agent", id, taken_down: mark });
    expect([await listed(), await statusOf("GET", at, other)]).toEqual([0, 404]);
    for (const path of [`${at}/runs`, `/v1/agents/owner/${slug}/runs`]) {
      expect(await statusOf("POST", path, other, { input: {} })).toBe(404);
    }
    expect(await statusOf("POST", "/v1/agents", other, parent)).toBe(400);

    const own = await call("GET", at, owner);
    expect(own.body).toMatchObject({ visibility: "private", taken_down: mark });
    expect(own.body.taken_down).not.toHaveProperty("visibility");
    expect(await statusOf("POST", `${at}/runs`, owner, { input: {}, wait: 20 })).toBe(201);
    expect(await statusOf("PATCH", at, owner, { goal: "better" })).toBe(200);
    for (const refused of [
      await call("PATCH", at, owner, { visibility: "public" }),
      await call("POST", `${at}/publish`, owner, {}),
    ]) {
      expect([refused.status, refused.body.error.type]).toEqual([409, "conflict"]);
      expect(refused.text).toContain("until an admin restores it");
    }
    // A second reason replaces the first.
    expect(await admin.takeDowns.agent(id, "Still.")).toMatchObject({ taken_down: { reason: "Still." } });

    expect(await admin.takeDowns.restoreAgent(id)).toMatchObject({ visibility: "public", taken_down: null });
    expect([await listed(), await statusOf("GET", at, other)]).toEqual([1, 200]);
    expect((await call("GET", at, owner)).body).not.toHaveProperty("taken_down");
    expect(await statusOf("POST", `${at}/publish`, owner, {})).toBe(200);
    expect(await admin.takeDowns.restoreAgent(id)).toMatchObject({ visibility: "public" });
  });
});

describe("a model", () => {
  const text = { type: "string" };
  const manifest = {
    title: "Weather",
    kind: "text",
    visibility: "public",
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: "http://127.0.0.1:9/v1", model: "x" },
  };
  const at = "/api/v1/owner/weather";

  test("is private for others, and stays so when its owner replaces it or deletes and recreates it", async () => {
    expect(await statusOf("PUT", at, owner, manifest)).toBe(201);
    expect(await statusOf("GET", at, other)).toBe(200);
    expect(await admin.takeDowns.model("owner/weather", reason)).toMatchObject({ kind: "model", taken_down: mark });
    expect(await statusOf("GET", at, other)).toBe(403);
    expect((await call("POST", `${at}/predict`, other)).status).toBe(403);
    expect((await call("GET", "/api/v1?q=owner/weather", other)).body.total_count).toBe(0);

    const card = (await call("GET", at, owner)).body;
    expect(card).toMatchObject({ visibility: "private", taken_down: mark });
    for (const again of [false, true]) {
      if (again) expect(await statusOf("DELETE", at, owner)).toBe(204);
      const refused = await call("PUT", at, owner, manifest);
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("until an admin restores it")]);
      expect(await statusOf("PUT", at, owner, { ...manifest, visibility: "private" })).toBe(again ? 201 : 200);
      expect(await statusOf("PATCH", at, owner, { visibility: "public" })).toBe(409);
      expect((await call("GET", at, owner)).body).toMatchObject({ taken_down: mark });
    }

    expect(await admin.takeDowns.restoreModel("owner/weather")).toMatchObject({ taken_down: null });
    expect(await statusOf("PUT", at, owner, manifest)).toBe(200);
    expect(await statusOf("GET", at, other)).toBe(200);
  });

  const hidden = { ...manifest, visibility: "private" };
  test.each<[what: string, steps: [method: string, json?: object][], restored: "public" | "private"]>([
    ["untouched", [], "public"],
    ["with another title", [["PATCH", { title: "Rain" }]], "public"],
    ["deleted and created as private", [["DELETE"], ["PUT", hidden]], "private"],
    ["replaced by a private one", [["PUT", hidden]], "private"],
    ["set to private", [["PATCH", { visibility: "private" }]], "private"],
  ])(
    "that was public and is %s: a restore gives it the visibility that its owner wants",
    async (_, steps, restored) => {
      const name = `restored-${crypto.randomUUID()}`;
      const path = `/api/v1/owner/${name}`;
      expect(await statusOf("PUT", path, owner, manifest)).toBe(201);
      await admin.takeDowns.model(`owner/${name}`, reason);
      for (const [method, json] of steps) expect(await statusOf(method, path, owner, json)).toBeLessThan(300);
      await admin.takeDowns.model(`owner/${name}`, "Still.");
      expect(await admin.takeDowns.restoreModel(`owner/${name}`)).toMatchObject({ visibility: restored });
      expect(await statusOf("GET", path, other)).toBe(restored === "public" ? 200 : 403);
    },
  );

  test("that is built in must be deleted or deactivated instead", async () => {
    await expect(admin.takeDowns.model("gantry/image", reason)).rejects.toMatchObject({ status: 409 });
  });
});

test("needs an admin, a reason and an existing target; all take-downs are listed", async () => {
  const { id } = (await call("POST", "/v1/agents", owner, { name: "Spam", goal: "g", tools: [] })).body;
  for (const path of [`agents/${id}/take-down`, `agents/${id}/restore`, "models/owner/weather/take-down"]) {
    expect(await statusOf("POST", `/api/v2/admin/${path}`, other, { reason })).toBe(403);
  }
  expect(await statusOf("GET", "/api/v2/admin/take-downs", other)).toBe(403);
  expect(await statusOf("POST", `/api/v2/admin/agents/${id}/take-down`, gantry.adminKey, { reason: " " })).toBe(422);
  expect(await statusOf("POST", `/api/v2/admin/agents/${id}/take-down`, gantry.adminKey)).toBe(422);
  for (const path of ["agents/none", "agents/agt_00000000000000000000000000", "models/owner/none"]) {
    expect(await statusOf("POST", `/api/v2/admin/${path}/take-down`, gantry.adminKey, { reason })).toBe(404);
    expect(await statusOf("POST", `/api/v2/admin/${path}/restore`, gantry.adminKey)).toBe(404);
  }
  await admin.takeDowns.agent(id, reason);
  await admin.takeDowns.model("owner/weather", reason);
  const all = await Array.fromAsync(admin.takeDowns.each());
  expect(all.map((one) => [one.kind, one.id, one.owner, one.visibility, one.taken_down?.reason])).toEqual([
    ["model", "owner/weather", "owner", "private", reason],
    ["agent", id, "owner", "private", reason],
  ]);
  // A model that never was public does not become public.
  expect(await admin.takeDowns.restoreAgent(id)).toMatchObject({ visibility: "private" });
});
