import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm, toolResults } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { figure, rowOf, soon } from "./support/on-page.ts";

let llm: ScriptedLlm;
beforeAll(async () => {
  llm = await startScriptedLlm();
});
afterAll(() => llm.close());

const calculation = { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
const asking = { type: "tool", id: "run_javascript", confirm: "always" };
const calculating = { type: "tool", id: "run_javascript" };
const question = (page: Page) => page.getByRole("region", { name: "Confirmation for run_javascript" });
const stepsOf = (page: Page) => page.getByRole("tree", { name: "Steps of the run" });
const step = (page: Page, text: string | RegExp): Locator =>
  stepsOf(page).getByRole("treeitem").filter({ hasText: text });

async function putCalculator(gantry: GantryNode, fields: object): Promise<string> {
  await putModel(gantry, "llm", textModel(llm.url));
  return putAgent(gantry, { model: "admin/llm", tools: [calculating], ...fields });
}

async function startRun(gantry: GantryNode, agent: string, body: object = {}): Promise<string> {
  const started = await gantry.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, ...body } });
  expect(started.status, started.text).toBe(201);
  return started.body.id;
}

const ended = (gantry: GantryNode, run: string) =>
  soon(async () => (await gantry.call("GET", `/v1/runs/${run}`)).body.status);

test("the trace shows model calls and tools, by mouse, keyboard and address", async ({ gantry, page }) => {
  const agent = await putCalculator(gantry, { name: "Traced" });
  llm.script = inTurn(calculation, { text: "It is **42**.", usage: { in: 200, out: 30, cached: 50 } });
  const run = await startRun(gantry, agent);
  await ended(gantry, run).toBe("done");
  await page.goto(`/console/runs/${run}`);
  await page.getByRole("tabpanel").locator("strong").getByText("42").waitFor();
  await soon(() => stepsOf(page).getByRole("treeitem").count()).toBe(5);
  expect(await step(page, "230 tokens").innerText()).toContain("admin/llm");
  expect(await figure(page, "Time").innerText()).toMatch(/\d+ ms|\d\.\d s/);

  await step(page, "run_javascript").click();
  await page.getByRole("heading", { name: "run_javascript" }).waitFor();
  await page.getByRole("figure").getByText("6 * 7").waitFor();
  const address = page.url();
  expect(new URL(address).searchParams.get("step")).toContain(run);
  // Arrows move, Enter opens, and only one row is a tab stop.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText("Model call").waitFor();
  await page.getByText("200 in, 30 out (50 cached)").waitFor();
  expect(await stepsOf(page).locator('[tabindex="0"]').count()).toBe(1);
  expect(await step(page, "230 tokens").getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await soon(() => stepsOf(page).getByRole("treeitem").count()).toBe(1);
  await page.keyboard.press("ArrowRight");
  await soon(() => stepsOf(page).getByRole("treeitem").count()).toBe(5);
  await page.getByRole("button", { name: "Close step" }).click();
  await page.getByRole("heading", { name: "Result" }).waitFor();

  await page.goto(address);
  await page.getByRole("heading", { name: "run_javascript" }).waitFor();
  await step(page, "230 tokens").click();
  await page.getByRole("link", { name: "Open prediction" }).click();
  await page.waitForURL(/\/console\/predictions\/pred_/);
});

test("on a phone the details of a step open as a sheet", async ({ gantry, page }) => {
  const agent = await putCalculator(gantry, { name: "Small" });
  llm.script = inTurn(calculation, { text: "It is 42." });
  const run = await startRun(gantry, agent);
  await ended(gantry, run).toBe("done");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`/console/runs/${run}`);
  await step(page, "run_javascript").click();
  const sheet = page.getByRole("dialog", { name: "run_javascript" });
  await sheet.getByText("6 * 7").waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("");
});

test("a question of a sub-agent is counted, named and answered in the inbox", async ({ gantry, page }) => {
  const child = await putCalculator(gantry, { name: "Careful Checker", tools: [asking] });
  const lead = await putCalculator(gantry, {
    name: "Lead",
    tools: [{ type: "agent", agent_id: child, name: "checker" }],
  });
  llm.script = inTurn(
    { calls: [{ name: "checker", args: {} }] },
    calculation,
    { text: "Checked." },
    { text: "All done." },
  );
  const run = await startRun(gantry, lead);
  await page.goto(`/console/runs/${run}`);
  await question(page).getByText("Asked by sub-agent Careful Checker").waitFor();
  await page.getByText("Waiting for your answer.").waitFor();
  await soon(() => page.title()).toMatch(/^\(1\) Lead/);

  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: /^Approvals 1/ })
    .click();
  await question(page).getByText("Asked by sub-agent Careful Checker of Lead").waitFor();
  await question(page).getByRole("button", { name: "Approve" }).click();
  await page.getByText("Nothing needs your answer").waitFor();
  await soon(() => page.title()).toBe("Approvals · Gantry");
  await page.getByRole("tab", { name: "Approved" }).click();
  await rowOf(page, "Answered tool calls", "run_javascript").getByText("Sub-agent Careful Checker").click();
  await page.waitForURL(new RegExp(run));
  await page.getByRole("tabpanel").getByText("All done.").waitFor();
  // The sub-agent's steps are nested below it, the wait among them.
  expect(await step(page, "Careful Checker").getAttribute("aria-expanded")).toBe("true");
  expect(await step(page, "Waiting for approval").getAttribute("aria-level")).toBe("3");
  await figure(page, "Time")
    .getByText(/worked .* · waited/)
    .waitFor();
});

test("a denied call is not made, and the model receives the reason", async ({ gantry, page }) => {
  const agent = await putCalculator(gantry, { name: "Denied", tools: [asking] });
  llm.script = inTurn(calculation, { text: "Then not." });
  await page.goto(`/console/runs/${await startRun(gantry, agent)}`);
  await question(page).getByLabel("Reason").fill("Not on a Sunday");
  await question(page).getByRole("button", { name: "Deny" }).click();
  await page.getByRole("tabpanel").getByText("Then not.").waitFor();
  await step(page, "run_javascript").last().click();
  await page.getByText("Denied", { exact: true }).first().waitFor();
  const [result] = toolResults(llm.requests.at(-1));
  expect(result).toContain("Not on a Sunday");
  expect(result).not.toContain("42");
});

test("a live run has a clock, shows the text as it is written, and can be cancelled", async ({ gantry, page }) => {
  const agent = await putCalculator(gantry, { name: "Writer" });
  llm.script = () => ({ text: "A first **draft** of many words", hangs: true });
  await page.goto(`/console/runs/${await startRun(gantry, agent)}`);
  await page.getByRole("log").locator("strong").getByText("draft").waitFor();
  await page.getByText("Writing…").waitFor();
  const clock = page.getByRole("timer");
  const before = await clock.innerText();
  await soon(() => clock.innerText()).not.toBe(before);
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).click();
  await page.getByText("Run cancelled").first().waitFor();
  await soon(() => clock.count()).toBe(0);
});

test("a failed run says what happened and what to do, and is run again with its input", async ({ gantry, page }) => {
  const input_schema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
  const agent = await putCalculator(gantry, { name: "Failing", goal: "About {{topic}}.", input_schema });
  llm.script = () => ({ status: 400 });
  const run = await startRun(gantry, agent, { input: { topic: "piers" } });
  await page.goto(`/console/runs/${run}`);
  const alert = page.getByRole("alert").filter({ hasText: "The model call failed" });
  await alert.getByText("Run it again in a moment.").waitFor();
  expect(await page.locator("main").innerText()).not.toMatch(/internal/i);
  await page.getByText("Failed", { exact: true }).first().waitFor();
  expect(await page.getByRole("link", { name: "Edit agent" }).first().getAttribute("href")).toContain(
    `${agent}?tab=edit`,
  );

  llm.script = () => ({ text: "Better." });
  await page.getByRole("button", { name: "Run again" }).click();
  const form = page.getByRole("dialog", { name: "Run Failing again" });
  expect(await form.getByLabel("topic").inputValue()).toBe("piers");
  await form.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("tabpanel").getByText("Better.").waitFor();
  expect(page.url()).not.toContain(run);
  await form.waitFor({ state: "detached" });
});

test("a failed run of another user's agent does not offer to edit it", async ({ gantry, pageOf }) => {
  const agent = await putCalculator(gantry, { name: "Shared", visibility: "public" });
  const key = await gantry.newUser("ann");
  llm.script = () => ({ status: 400 });
  const started = await gantry.call("POST", `/v1/agents/${agent}/runs`, { key, json: { input: {} } });
  expect(started.status, started.text).toBe(201);
  const page = await pageOf(key);
  await page.goto(`/console/runs/${started.body.id}`);
  await page.getByRole("alert").getByText("tell the creator of the agent").waitFor();
  expect(await page.getByRole("link", { name: "Edit agent" }).count()).toBe(0);
});

test("runs are filtered in the address, and whole rows are links", async ({ gantry, page }) => {
  const asker = await putCalculator(gantry, { name: "Asker", tools: [asking] });
  const failing = await putCalculator(gantry, { name: "Broken" });
  llm.script = ({ tools }) => (tools ? calculation : { status: 400 });
  const waiting = await startRun(gantry, asker);
  await soon(async () => (await gantry.call("GET", `/v1/runs/${waiting}`)).body.phase).toBe("awaiting_confirmation");
  llm.script = () => ({ status: 400 });
  const failed = await startRun(gantry, failing);
  await ended(gantry, failed).toBe("error");

  await page.goto("/console/runs");
  await soon(() => rowOf(page, "Runs", "Broken").innerText()).toMatch(/\d (ms|s)/);
  await page.getByLabel("Status").selectOption("Needs your answer");
  await page.waitForURL(/status=asking/);
  await soon(() => page.getByRole("table", { name: "Runs" }).getByRole("row").count()).toBe(2);
  await rowOf(page, "Runs", "Asker").getByText("No input").click();
  await page.waitForURL(new RegExp(waiting));
  await page.goBack();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Run id").fill(failed.slice(-10));
  await soon(() => page.getByRole("table", { name: "Runs" }).getByRole("row").count()).toBe(2);
  await rowOf(page, "Runs", "Broken").waitFor();
  await page.goto(`/console/runs?agent=${asker}`);
  await rowOf(page, "Runs", "Asker").waitFor();
  expect(await rowOf(page, "Runs", "Broken").count()).toBe(0);
  await page.getByLabel("Time").selectOption("Last month");
  await page.getByText("No runs match these filters").waitFor();
});
