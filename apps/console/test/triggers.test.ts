import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { rowOf, soon, toast } from "./support/on-page.ts";

let llm: ScriptedLlm;
beforeAll(async () => {
  llm = await startScriptedLlm(() => ({ text: "Sorted." }));
});
afterAll(() => llm.close());

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const trigger = (page: Page, name: string) =>
  page.getByRole("list", { name: "Triggers" }).getByRole("listitem", { name, exact: true });

test("a trigger is created, called, shows its deliveries, and gets a new address", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, {
    name: "Triage",
    goal: "Sort {{title}}.",
    input_schema: { type: "object", required: ["title"], properties: { title: { type: "string" } } },
    model: "admin/llm",
  });
  await page.goto(`/console/agents/${agent}?tab=triggers`);
  await page.getByText("No triggers yet").waitFor();
  await page.getByRole("button", { name: "New trigger" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Issues");
  expect(await dialog.getByLabel("Template").inputValue()).toContain("{{body.title}}");
  await dialog.getByLabel("Template").fill('{"title": "#{{body.issue.number}} {{body.issue.title}}"}');
  await dialog.getByText("Preview with a sample request").click();
  await dialog.getByLabel("Sample body").fill('{"issue": {"number": 7, "title": "Broken"}}');
  await dialog.getByText("#7 Broken").waitFor();
  await dialog.getByRole("button", { name: "Create trigger" }).click();
  const shown = page.getByRole("dialog", { name: "Address of the trigger" });
  const url = await shown.locator("[data-secret]").innerText();
  expect(await shown.innerText()).toContain(`curl -X POST '${url}'`);
  await shown.getByRole("button", { name: "I've copied it" }).click();

  expect((await post(url, { issue: { number: 8, title: "Slow" } })).status).toBe(202);
  const issues = trigger(page, "Issues");
  await issues.getByRole("button", { name: "Deliveries to Issues" }).click();
  await rowOf(page, "Deliveries", "Accepted").getByRole("link", { name: "View run" }).click();
  await page.getByRole("tabpanel").getByText("Sorted.").waitFor();
  await page.getByText("#8 Slow").first().waitFor();
  await page.getByRole("link", { name: "Trigger", exact: true }).click();

  await issues.getByRole("button", { name: "Edit Issues" }).click();
  await dialog.getByLabel("Verification").selectOption("GitHub");
  await dialog.getByRole("button", { name: "Save" }).click();
  await soon(() => dialog.getByLabel("Signing secret").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("Signing secret").fill("a-shared-secret");
  await dialog.getByRole("button", { name: "Save" }).click();
  await toast(page, "Trigger saved").waitFor();
  await issues.getByText("Signed by GitHub").waitFor();
  expect((await post(url, { issue: { number: 9, title: "Forged" } })).status).toBe(401);

  await issues.getByRole("button", { name: "New address of Issues" }).click();
  await dialog.getByRole("button", { name: "New address" }).click();
  await shown.waitFor();
  expect(await shown.locator("[data-secret]").innerText()).not.toBe(url);
  await shown.getByRole("button", { name: "I've copied it" }).click();
  expect((await post(url, {})).status).toBe(404);

  await page.goto("/console/automations?tab=triggers");
  await issues.getByRole("button", { name: "Pause Issues" }).click();
  await issues.getByText("Off", { exact: true }).waitFor();
  await issues.getByRole("button", { name: "Delete Issues" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No triggers yet").waitFor();
}, 120_000);

test("a template with a trigger creates its drive too, and shows the address once", async ({ gantry, page }) => {
  await page.goto("/console/agents/new?template=support-desk");
  await page.getByText("Creating this agent also creates the searchable drive Support handbook, a trigger.").waitFor();
  await page.getByRole("button", { name: "Create agent" }).click();
  const shown = page.getByRole("dialog", { name: "Address of the trigger" });
  const url = await shown.locator("[data-secret]").innerText();
  await shown.getByRole("button", { name: "I've copied it" }).click();
  await page.getByRole("heading", { name: "Support desk" }).waitFor();
  const message = { text: "Can I return it?", reply_url: "http://127.0.0.1:9/reply", conversation: "c1" };
  expect((await post(url, message)).status).toBe(202);
  const { body } = await gantry.call("GET", "/v1/drives");
  expect(body.drives).toMatchObject([{ name: "Support handbook", index: { files: 1 } }]);
});
