import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { selfSigned } from "../../server/src/engines/net/self-signed.fixture.ts";
import { serveTenant, type TenantServer } from "../../server/src/features/connectors/idp/tenant-server.fixture.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { consoleTest } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { descriptionOf, loseAnswer, rowOf, soon } from "./support/on-page.ts";

let llm: ScriptedLlm;
let folder: string;
let tenant: TenantServer;
beforeAll(async () => {
  llm = await startScriptedLlm();
  folder = await mkdtemp(join(tmpdir(), "gantry-console-editor-"));
  tenant = await serveTenant(selfSigned);
});
afterAll(async () => {
  await llm.close();
  await tenant.close();
  await rm(folder, { recursive: true, force: true });
});

/** The server trusts the certificate of the test tenant. */
const test = consoleTest(async () => {
  const authority = join(folder, "authority.pem");
  await writeFile(authority, selfSigned.cert);
  return { GANTRY_EXTRA_CA: authority };
});

const field = (page: Page, name: string) => page.getByRole("form", { name: "Agent" }).getByLabel(name, { exact: true });
const testPanel = (page: Page) => page.getByRole("complementary", { name: "Test" });

test("a template is tested beside the form", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  llm.script = () => ({ text: '{"title": "A page", "summary": "About **ships**."}' });
  await page.goto("/console/agents/new");
  const templates = page.getByRole("navigation", { name: "Templates" });
  await templates.getByRole("link", { name: /^Page reader/ }).click();
  await page.waitForURL(/template=page-reader/);
  await soon(() => field(page, "Name (required)").inputValue()).toBe("Page reader");
  await field(page, "Model").selectOption("admin/llm");
  expect(await descriptionOf(field(page, "Model"))).toContain("$1.00 per 1M input tokens");

  // A choice of another template would lose the change.
  await templates.getByRole("link", { name: /^Illustrator/ }).click();
  await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Stay" }).click();

  const panel = testPanel(page);
  await panel.getByLabel("url").fill("https://example.com/");
  await panel.getByRole("button", { name: "Create draft and run" }).click();
  await page.waitForURL(/\/agents\/agt_\w+\?tab=edit&test=run_/);
  const run = panel.getByRole("region", { name: "Test run" });
  await run.getByText("Succeeded", { exact: true }).waitFor();
  await run.getByText("About").first().waitFor();
  await run.getByRole("heading", { name: "Trace" }).waitFor();

  // The address has the run.
  await page.reload();
  await testPanel(page).getByRole("region", { name: "Test run" }).getByText("Succeeded").waitFor();
});

test("a test of changes saves a draft and publishes nothing", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  llm.script = () => ({ text: "Done." });
  const input_schema = { type: "object", properties: { url: { type: "string" } } };
  const id = await putAgent(gantry, { name: "Tested", model: "admin/llm", goal: "Open {{url}}.", input_schema });
  await page.goto(`/console/agents/${id}?tab=edit`);
  const panel = testPanel(page);
  await field(page, "Goal (required)").fill("Read {{url}}.");
  await panel.getByText("your changes are saved as a draft first").waitFor();
  await panel.getByLabel("url").fill("https://example.com/2");
  await panel.getByRole("button", { name: "Save draft and run" }).click();
  await page.waitForURL(/test=run_/);
  await panel.getByRole("button", { name: "Run draft" }).waitFor();
  await soon(() => JSON.stringify(llm.requests.at(-1)?.messages)).toContain("Read https://example.com/2.");

  const { body: agent } = await gantry.call("GET", `/v1/agents/${id}`);
  expect(agent.goal).toBe("Read {{url}}.");
  expect(agent.published_revision_id).not.toBe(agent.latest_revision_id);
  const { body: runs } = await gantry.call("GET", `/v1/agents/${id}/runs`);
  expect(runs.runs.map(({ revision_id }: { revision_id: string }) => revision_id)).toEqual([agent.latest_revision_id]);

  // After a lost answer, the same input on another draft is another request.
  await page.route(`**/v1/agents/${id}/runs`, loseAnswer);
  await panel.getByRole("button", { name: "Run draft" }).click();
  await panel.getByText("This request may have gone through").waitFor();
  await page.unrouteAll();
  await field(page, "Goal (required)").fill("Fetch {{url}}.");
  await panel.getByRole("button", { name: "Save draft and run" }).click();
  await soon(() => JSON.stringify(llm.requests.at(-1)?.messages)).toContain("Fetch https://example.com/2.");
});

test("input fields follow the goal", async ({ page }) => {
  await page.goto("/console/agents/new");
  const goal = field(page, "Goal (required)");
  await goal.pressSequentially("Tell {{reader}} about {{topic}}");
  const names = () =>
    page.getByLabel(/^Name of field/).evaluateAll((all) => all.map((one) => (one as { value?: string }).value));
  await soon(names).toEqual(["reader", "topic"]);
  await testPanel(page).getByLabel("topic").waitFor();

  const notes = page.getByRole("list", { name: "Input fields of the goal" });
  await notes.getByRole("button", { name: "Undo topic" }).click();
  await soon(names).toEqual(["reader"]);
  await notes.getByText("{{topic}} isn't an input field yet").waitFor();
  await notes.getByRole("button", { name: "Add field topic" }).click();
  await soon(names).toEqual(["reader", "topic"]);

  // A field that was edited stays, and is said to be unused.
  await page.getByLabel("Description of field 2").fill("What to tell");
  await goal.fill("Tell nothing.");
  await soon(names).toEqual(["topic"]);
  await notes.getByText("Not in the goal: topic").waitFor();
});

test("errors are sentences that go away when the text is right", async ({ gantry, page }) => {
  await page.goto("/console/agents/new");
  const [name, goal] = [field(page, "Name (required)"), field(page, "Goal (required)")];
  await page.getByRole("button", { name: "Create agent" }).click();
  await soon(() => descriptionOf(name)).toBe("Enter a name.");
  expect(await descriptionOf(goal)).toBe("Describe what the agent should achieve.");
  await goal.fill("Do it.");
  await soon(() => goal.getAttribute("aria-invalid")).toBeNull();

  // Long names are kept and explained, not cut.
  await name.fill("n".repeat(120));
  await soon(() => descriptionOf(name)).toBe("Use at most 100 characters. You have 120.");
  expect(await name.inputValue()).toHaveLength(120);
  await name.fill("Short");
  await soon(() => name.getAttribute("aria-invalid")).toBeNull();

  // An answer of the server opens its section, and goes away with the next change.
  await page.getByRole("navigation", { name: "Sections" }).getByRole("button", { name: "Output" }).click();
  const schema = page.getByLabel("Output schema");
  await schema.fill('{"type": 7}');
  await page.getByRole("group").filter({ has: schema }).last().locator("summary").click();
  await page.getByRole("button", { name: "Create agent" }).click();
  await soon(() => schema.getAttribute("aria-invalid")).toBe("true");
  await soon(() => schema.isVisible()).toBe(true);
  await schema.fill('{"type": "object"}');
  await soon(() => schema.getAttribute("aria-invalid")).toBeNull();
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.waitForURL(/\/agents\/agt_/);
  const { body } = await gantry.call("GET", "/v1/agents?limit=1");
  expect(body.agents[0]).toMatchObject({ name: "Short", output_schema: { type: "object" } });
});

test("tools come by provider, and identity tools once a tenant is connected", async ({ gantry, page }) => {
  const agent = await putAgent(gantry, { name: "Tenant reader", tools: ["idp_users_list"] });
  await page.goto(`/console/agents/${agent}`);
  const warning = page.getByText("no identity tenant is connected");
  await warning.getByRole("link", { name: "Connect an identity tenant" }).waitFor();

  await page.goto("/console/agents/new");
  const tool = page.getByRole("checkbox", { name: "http_request", exact: true });
  await tool.waitFor();
  expect(await descriptionOf(tool)).toContain("HTTP request");
  await page.getByRole("link", { name: "connect an identity tenant" }).waitFor();
  expect(await page.getByRole("button", { name: /^Identity tenant/ }).count()).toBe(0);

  const json = { domain: tenant.domain, token: tenant.issue(["read:users"]) };
  const put = await gantry.call("PUT", "/v1/connectors/idp", { json });
  expect([200, 201], put.text).toContain(put.status);
  await page.reload();
  const identity = page.getByRole("button", { name: /^Identity tenant/ });
  await identity.waitFor();
  expect(await page.getByRole("checkbox", { name: "idp_users_list" }).count()).toBe(0);
  await identity.click();
  await page.getByRole("checkbox", { name: "idp_users_list", exact: true }).check();
  await page.getByRole("list", { name: "Chosen tools" }).getByText("idp_users_list").waitFor();
});

test("the marketplace finds descriptions while you type, and asks only for what an agent can use", async ({
  gantry,
  pageOf,
}) => {
  await putModel(gantry, "llm", textModel(llm.url));
  llm.script = () => ({ text: "Done." });
  const key = await gantry.newUser("ann");
  const fields = { visibility: "public", model: "admin/llm" };
  const agent = await putAgent(gantry, {
    ...fields,
    name: "Alpha",
    description: "Compares zeppelin fares.",
    tools: ["run_model"],
  });
  await putAgent(gantry, { ...fields, name: "Beta" });
  const run = await gantry.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, wait: 20 } });
  expect(run.body.status, run.text).toBe("done");

  const page = await pageOf(key);
  await page.goto("/console/marketplace");
  await page.getByRole("link", { name: "Beta" }).waitFor();
  await page.getByLabel("Search agents").fill("ZEPPELIN");
  await page.waitForURL(/q=ZEPPELIN/);
  await soon(() => page.getByRole("link", { name: "Beta" }).count()).toBe(0);
  const card = page.getByRole("listitem").filter({ hasText: "Alpha" });
  expect(await card.innerText()).toContain("Compares zeppelin fares.");
  expect(await card.innerText()).toContain("1 run, 100% succeeded");
  await card.getByRole("link", { name: "Alpha" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  await page.getByLabel("Allow access to my private models").waitFor();
  expect(await page.getByLabel(/identity tenant/).count()).toBe(0);
  await page.goto("/console/marketplace?q=Beta");
  await page.getByRole("link", { name: "Beta" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  expect(await page.getByLabel(/^Allow access/).count()).toBe(0);
});

test("the list shows the last run, and a row opens its agent", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  llm.script = () => ({ text: "Done." });
  const agent = await putAgent(gantry, { name: "Listed", model: "admin/llm", description: "Appears in the list." });
  await putAgent(gantry, { name: "Never run", model: "admin/llm" });
  await gantry.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, wait: 20 } });
  await page.goto("/console/agents");
  const row = rowOf(page, "My agents", "Listed");
  await row.getByText("100%").waitFor();
  await row.getByText("Appears in the list.").waitFor();
  await rowOf(page, "My agents", "Never run").getByText("Never", { exact: true }).waitFor();
  await row.getByRole("cell").last().click();
  await page.waitForURL(new RegExp(agent));
  await page.getByRole("tab", { name: "Share" }).click();
  for (const language of ["curl", "Python", "TypeScript"]) {
    await page.getByRole("tab", { name: language }).click();
    await page.getByRole("tabpanel", { name: language }).getByText("GANTRY_KEY").first().waitFor();
  }
});
