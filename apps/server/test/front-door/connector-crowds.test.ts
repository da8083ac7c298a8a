import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunsWithTenant, startRunsWithTenant } from "../support/runs-with-tenant.ts";

let runs: RunsWithTenant;
beforeAll(async () => {
  runs = await startRunsWithTenant();
});
afterAll(() => runs.close());

test("whoever tries tokens at another's tenant does not keep its owner out", async () => {
  const { t, tenant } = runs;
  const stranger = await t.gantry.newUser("stranger");
  tenant.delayMs = 100;
  const json = { domain: tenant.domain, token: "wrong-token" };
  const refused = new Set<number>();
  let isOver = false;
  const trying = Array.from({ length: 90 }, async () => {
    while (!isOver) {
      refused.add((await t.gantry.call("PUT", "/v1/connectors/idp", { json, key: stranger })).status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const list = () => t.gantry.call("POST", "/v1/connectors/idp/actions/idp_roles_list", { json: {} });
  const answers = await Promise.all(Array.from({ length: 6 }, list));
  isOver = true;
  await Promise.all(trying);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect([...refused].sort()).toEqual([400, 429]);
});
