import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { tenantState } from "../../src/features/connectors/idp/tenant-routes.fixture.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "./agent-runs.ts";
import { allScopes } from "./idp-connector.ts";

export interface RunsWithTenant {
  t: AgentRuns;
  tenant: TenantServer;
  /** Clears recorded requests and resets the tenant. */
  forget(): void;
  close(): Promise<void>;
}

/** Agents of an admin with a connector to a tenant over TLS. */
export async function startRunsWithTenant(): Promise<RunsWithTenant> {
  const t = await startAgentRuns();
  const tenant = await serveTenant(selfSigned);
  const json = { domain: tenant.domain, token: tenant.issue(allScopes) };
  const put = await t.gantry.call("PUT", "/v1/connectors/idp", { json });
  if (put.status !== 200) throw new Error(put.text);
  return {
    t,
    tenant,
    forget() {
      t.llm.requests.length = 0;
      tenant.seen.length = 0;
      tenant.state = { ...tenantState(), tokens: tenant.state.tokens };
    },
    async close() {
      await t.close();
      await tenant.close();
    },
  };
}

/** The same for all tests of a file. Each test starts fresh and must use up its scripted tenant answers. */
export async function useRunsWithTenant(): Promise<RunsWithTenant> {
  const runs = await startRunsWithTenant();
  beforeEach(() => runs.forget());
  afterEach(() => {
    expect(runs.tenant.script.splice(0)).toEqual([]);
  });
  afterAll(() => runs.close());
  return runs;
}
