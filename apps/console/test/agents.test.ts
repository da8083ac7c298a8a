import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { inTurn, type ScriptedLlm, startScriptedLlm, toolResults } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { figure, loseAnswer, soon, tile, toast } from "./support/on-page.ts";

let llm: ScriptedLlm;
beforeAll(async () => {
  llm = await startScriptedLlm();
});
afterAll(() => llm.close());

const calculation = { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
const runIdIn = (page: Page) => new URL(page.url()).pathname.split("/").at(-1);

/** Starts a run and returns the confirmation that it asks for. */
async function runUntilConfirmation(page: Page, button: string) {
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.waitForURL(/\/console\/runs\/run_/);
  const confirmation = page.getByRole("region", { name: "Confirmation for run_javascript" });
  await confirmation.waitFor();
  return confirmation;
}

test("an agent is created, published and run with an approval", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  llm.script = inTurn(calculation, { text: "It is 42." });
  await page.goto("/console/agents");
  await page.getByRole("link", { name: "New agent" }).first().click();
  await page.getByLabel("Name (required)").fill("Calculator");
  await page.getByLabel("Goal (required)").fill("Calculate {{what}}.");
  await page.getByLabel("Model", { exact: true }).selectOption("admin/llm");
  await page.getByLabel("Search tools").fill("run_java");
  await page.getByRole("checkbox", { name: "run_javascript", exact: true }).check();
  await page.getByLabel("Confirmation for run_javascript").selectOption("Always ask");
  await page.getByRole("button", { name: "Create agent" }).click();
  await toast(page, "Draft saved").waitFor();

  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("dialog", { name: "Publish Calculator" }).getByRole("button", { name: "Publish" }).click();
  await toast(page, "Calculator published").waitFor();

  // Required inputs are checked before the run starts.
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await soon(() => page.getByLabel("what").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("what").fill("six times seven");
  const confirmation = await runUntilConfirmation(page, "Run");
  expect(await confirmation.innerText()).toContain("6 * 7");
  await page.getByText("Needs your answer").first().waitFor();
  await confirmation.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Result" }).waitFor();
  await page.getByRole("tabpanel").getByText("It is 42.").waitFor();
  await page.getByText("Succeeded", { exact: true }).first().waitFor();
  expect(await confirmation.count()).toBe(0);

  const run = await gantry.call("GET", `/v1/runs/${runIdIn(page)}`);
  expect(run.body).toMatchObject({ status: "done", input: { what: "six times seven" }, output: { text: "It is 42." } });
  expect(toolResults(llm.requests.at(-1))).toEqual(["42"]);
});

test("a run is started once after a lost answer", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, { name: "Started Once", model: "admin/llm" });
  llm.script = () => ({ text: "Done." });
  await page.goto(`/console/agents/${agent}`);
  await page.route(`**/v1/agents/${agent}/runs`, loseAnswer);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("This request may have gone through").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/console\/runs\/run_/);
  expect((await gantry.call("GET", `/v1/agents/${agent}/runs`)).body.total).toBe(1);
});

test("a goal with a missing input shows how to fix it", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const input_schema = { type: "object", properties: { topic: { type: "string" } } };
  const agent = await putAgent(gantry, {
    name: "Mistaken",
    model: "admin/llm",
    goal: "About {{subject}}.",
    input_schema,
  });
  const warning = "The goal uses {{subject}}, but this input doesn't exist. Add it under Inputs.";
  await page.goto(`/console/agents/${agent}`);
  await page.getByText(warning).waitFor();
  await page.goto("/console/agents");
  await page.getByText(`Warnings: ${warning}`).waitFor({ state: "attached" });
});

test("another user pays the creator for a run of a public agent", async ({ gantry, pageOf }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const keys = { maker: await gantry.newUser("maker", { credit: 0 }), buyer: await gantry.newUser("buyer") };
  const agent = await putAgent(gantry, { name: "For Sale", goal: "A secret goal.", model: "admin/llm" }, keys.maker);
  llm.script = () => ({ text: "Sold." });

  const maker = await pageOf(keys.maker);
  await maker.goto(`/console/agents/${agent}?tab=share`);
  await maker.getByLabel("Visibility").selectOption("public");
  await maker.getByLabel("Price per run ($)").fill("0.5");
  await maker.getByRole("button", { name: "Save" }).click();
  await toast(maker, "Saved. Publish to apply the new price.").waitFor();
  await maker.getByRole("button", { name: "Publish changes" }).click();
  await maker.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await toast(maker, "For Sale published").waitFor();

  const buyer = await pageOf(keys.buyer);
  await buyer.goto("/console/marketplace");
  await buyer.getByLabel("Search agents").fill("for sale");
  await buyer.getByRole("link", { name: "For Sale" }).click();
  await buyer.getByRole("button", { name: "Run for $0.50" }).click();
  await buyer.getByRole("tabpanel").getByText("Sold.").waitFor();
  expect(await buyer.content()).not.toContain("A secret goal.");
  await soon(() => figure(buyer, "Cost").innerText()).toMatch(/^\$0\.50/);
  await buyer.getByRole("link", { name: "Money" }).click();
  await buyer.getByText("maker/for-sale").first().waitFor();

  await maker.getByRole("link", { name: "Overview" }).click();
  await soon(() => tile(maker, "Balance").innerText()).toContain("$0.50");

  // A price that changes while the page is open is shown before the user pays it.
  await buyer.goto("/console/marketplace/maker/for-sale");
  await buyer.getByText("admin/llm:").waitFor();
  await buyer.getByRole("button", { name: "Run for $0.50" }).waitFor();
  await gantry.call("PATCH", `/v1/agents/${agent}`, { key: keys.maker, json: { pricing: { per_run: 0.75 } } });
  await gantry.call("POST", `/v1/agents/${agent}/publish`, { key: keys.maker, json: {} });
  await buyer.getByRole("button", { name: "Run for $0.50" }).click();
  await buyer.getByText("The price of this agent is now $0.75, not $0.5.").waitFor();
  await buyer.getByRole("button", { name: "Run for $0.75" }).waitFor();
  const left = (await gantry.call("GET", "/api/v2/me", { key: keys.buyer })).body;
  expect(left.balance).toBeLessThan(9.5);
  expect(left.reserved).toBe(0);
  expect((await gantry.call("GET", "/api/v2/admin/ledger")).body.discrepancies).toEqual([]);
});
