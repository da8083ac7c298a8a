import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunsWithTenant, startRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { waitFor } from "../../support/wait-for.ts";

let runs: RunsWithTenant;
beforeAll(async () => {
  runs = await startRunsWithTenant();
});
afterAll(() => runs.close());

test("a user who guesses tokens for a tenant does not lock out its owner", async () => {
  const { t, tenant } = runs;
  const stranger = await t.gantry.newUser("stranger");
  tenant.delayMs = 100;
  tenant.seen.length = 0;
  const json = { domain: tenant.domain, token: "wrong-token" };
  const trying = Array.from({ length: 90 }, () => t.gantry.call("PUT", "/v1/connectors/idp", { json, key: stranger }));
  await waitFor("the first of them", () => tenant.seen.length > 0);
  const list = () => t.gantry.call("POST", "/v1/connectors/idp/actions/idp_roles_list", { json: {} });
  const answers = await Promise.all(Array.from({ length: 6 }, list));
  const refused = (await Promise.all(trying)).map(({ status }) => status);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect([...new Set(refused)].sort()).toEqual([400, 429]);
});
