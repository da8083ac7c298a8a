import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { cogModel, createModels } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let other: GantryNode;
let cog: SlowCog;

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  other = await startGantry({ beside: gantry, env: { GANTRY_ROLE: "api" } });
  await createModels(gantry, { slow: cogModel(cog.url, { capacity: 50 }) });
});

afterAll(async () => {
  await other.close();
  await gantry.close();
  await cog.close();
});

const put = (requestsPerMinute: number | null, parallel: number | null) =>
  gantry.call("PUT", "/api/v2/admin/plans/house", { json: { requests_per_minute: requestsPerMinute, parallel } });

test("limits of a custom plan are enforced, and a change applies at once on every node", async () => {
  expect((await put(3, 1)).status).toBe(201);
  const key = await gantry.newUser("guest", { plan: "house" });
  const form = { prompt: "x" };
  const accept = (node: GantryNode) => node.call("POST", "/api/v1/admin/slow/predict/async/", { form, key });
  for (const [node, remaining] of [
    [gantry, "2"],
    [other, "1"],
    [gantry, "0"],
  ] as const) {
    const { status, headers } = await accept(node);
    expect([status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([
      200,
      "3",
      remaining,
    ]);
  }
  expect((await accept(other)).status).toBe(429);
  await waitFor("the first upstream call", () => cog.open === 1);
  await sleep(300);
  expect(cog.open).toBe(1);

  expect((await put(5, 3)).status).toBe(200);
  const { status, headers } = await accept(other);
  expect([status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([200, "5", "1"]);
  await waitFor("those that waited for the limit to run", () => cog.open === 3);

  expect((await put(null, null)).status).toBe(200);
  const free = await accept(other);
  expect([free.status, free.headers.get("x-ratelimit-limit")]).toEqual([200, null]);
  await waitFor("all to run", () => cog.open === 5);
  cog.finishAll();
  await waitFor("all to end", async () => {
    return (await gantry.call("GET", "/api/v2/usage", { key })).body.total_count === 5;
  });
});
