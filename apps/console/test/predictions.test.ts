import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ChatServer, startChatServer } from "../../server/test/support/chat-server.ts";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { figure, rowOf, soon, toast } from "./support/on-page.ts";

let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.close());

async function paint(gantry: GantryNode, key: string, prompt: string) {
  const form = { prompt, size: "1280x720" };
  const made = await gantry.call("POST", "/api/v1/gantry/image/predict", { key, form });
  expect(made.status, made.text).toBe(200);
  return { id: made.body.prediction_id as string, requestId: String(made.headers.get("x-request-id")) };
}

/** Runs in the page. A picture that has not loaded has no width. */
const widthOf = (picture: { naturalWidth: number }) => picture.naturalWidth;

const factOf = (page: Page, name: string) =>
  page.locator("dt", { hasText: new RegExp(`^${name}$`) }).locator("xpath=following-sibling::dd[1]");

test("predictions are listed with previews, and filters stay in the address", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("lister");
  const { id } = await paint(gantry, key, "A red gate\nunder a blue sky");
  await gantry.call("POST", "/api/v1/gantry/text/predict/stream", { key, form: { prompt: "What is 12 * 34?" } });
  const page = await pageOf(key);
  await page.goto("/console/predictions");
  await rowOf(page, "Predictions", "What is 12 * 34?").getByText("408").waitFor();
  const painted = rowOf(page, "Predictions", "A red gate");
  await soon(() => painted.locator("img").evaluate(widthOf)).toBe(1280);
  expect(await painted.innerText()).toMatch(/gantry\/image[\s\S]*Succeeded[\s\S]*\$0\.03/);

  await page.getByLabel("Model").selectOption("gantry/image");
  await soon(() => rowOf(page, "Predictions", "What is 12").count()).toBe(0);
  await page.getByLabel("Status").selectOption("Failed");
  await page.getByText("No predictions match these filters").waitFor();
  expect(new URL(page.url()).search).toBe("?model=gantry%2Fimage&status=failed");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Search by id").fill(id);
  await soon(() => rowOf(page, "Predictions", "What is 12").count()).toBe(0);
  // The whole row is a link.
  await painted.getByText("$0.03").last().click();
  await page.getByRole("heading", { name: "gantry/image" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/predictions/${id}`);
});

test("a prediction has a page with its input, until its content is deleted", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("painter");
  const { id, requestId } = await paint(gantry, key, "A red gate");
  const page = await pageOf(key);
  // Addresses from before predictions had pages still work.
  await page.goto(`/console/usage?prediction=${id}&at=2026-01-31T10%3A00%3A00Z`);
  await page.getByText("A red gate").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/predictions/${id}`);
  await page.getByRole("img", { name: "image" }).waitFor();
  expect(await factOf(page, "Request").innerText()).toContain(requestId);
  expect(await factOf(page, "Cost").innerText()).toBe("$0.03");
  await page.getByRole("button", { name: "JSON" }).click();
  await page.getByText('"prompt": "A red gate"').waitFor();
  expect(new URL(page.url()).search).toBe("?view=json");

  const playground = page.getByRole("link", { name: "Open in playground" });
  expect(await playground.getAttribute("href")).toBe(`/console/models/gantry/image?from=${id}`);
  await page.getByRole("button", { name: "Delete content" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 output file").waitFor();
  await dialog.getByText("Model, times, tokens and cost stay in your usage.").waitFor();
  await dialog.getByRole("button", { name: "Delete content" }).click();
  await toast(page, "Content deleted").waitFor();
  await page.getByText("You deleted the content of this prediction.").first().waitFor();
  expect(await page.getByRole("link", { name: "Open in playground" }).count()).toBe(0);
  expect(await factOf(page, "Cost").innerText()).toBe("$0.03");
  expect((await gantry.call("GET", `/api/v2/predictions/${id}`, { key })).text).not.toContain("red gate");
});

test("a failed prediction names the request that failed", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("unlucky");
  // Nothing listens on the discard port.
  await putModel(gantry, "dead", textModel("http://127.0.0.1:9/v1"));
  const failed = await gantry.call("POST", "/api/v1/admin/dead/predict/stream", { key, form: { prompt: "Speak" } });
  const requestId = String(failed.headers.get("x-request-id"));
  const [id = ""] = /pred_\w+/.exec(failed.text) ?? [];
  const page = await pageOf(key);
  for (let n = 0; n < 2; n++) {
    await page.goto(`/console/predictions/${id}`);
    await page.getByRole("alert").getByText(requestId).waitFor();
  }
  expect(await factOf(page, "Status").innerText()).toMatch(/Failed\s+HTTP 503/);
});

test("a running prediction is followed and can be cancelled", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("follower");
  await putModel(gantry, "followed", textModel(chat.url));
  const submit = async () =>
    (await gantry.call("POST", "/api/v1/admin/followed/predict/async", { key, form: { prompt: "Speak" } })).text;
  const [id = ""] = /pred_\w+/.exec(await submit()) ?? [];
  const page = await pageOf(key);
  await page.goto(`/console/predictions/${id}`);
  await soon(() => factOf(page, "Status").innerText()).toBe("Running");
  await soon(() => chat.open).toBe(1);
  chat.say("Hello there");
  chat.end();
  await page.getByText("Hello there").waitFor();
  await soon(() => factOf(page, "Status").innerText()).toBe("Succeeded");

  const [second = ""] = /pred_\w+/.exec(await submit()) ?? [];
  await page.goto(`/console/predictions/${second}`);
  await soon(() => chat.open).toBe(1);
  await page.getByRole("button", { name: "Cancel" }).click();
  await soon(() => factOf(page, "Status").innerText()).toBe("Cancelled");
  await soon(() => chat.open).toBe(0);
});

test("a model call of an agent leads to its step in the run", async ({ gantry, page }) => {
  const agent = await putAgent(gantry, { name: "Counter", goal: "What is 12 * 34?", model: "gantry/text" });
  const started = await gantry.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {} } });
  const run = started.body.run_id ?? started.body.id;
  const calls = async () => (await gantry.call("GET", `/api/v2/predictions?run_id=${run}`)).body.results;
  await soon(async () => (await calls())[0]?.status).toBe("succeeded");
  await page.goto(`/console/predictions?agent=${agent}`);
  await rowOf(page, "Predictions", "Model call by Counter").first().getByRole("link").click();
  await page.getByText("This model call belongs to an agent run.").waitFor();
  const link = page.getByRole("link", { name: "View in run" });
  await soon(() => link.getAttribute("href")).toMatch(new RegExp(`^/console/runs/${run}\\?step=`));
});

test("usage has one request for each chart, totals, groups and a CSV", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("spender");
  for (const prompt of ["one", "two"]) await paint(gantry, key, prompt);
  await gantry.call("POST", "/api/v1/gantry/text/predict/stream", { key, form: { prompt: "What is 12 * 34?" } });
  const page = await pageOf(key);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/api/v2/series") asked.push(String(searchParams.get("metric")));
  });
  await page.goto("/console/usage");
  await soon(() => figure(page, "Requests").innerText()).toBe("3");
  await soon(() => figure(page, "Spent").innerText()).toBe("$0.06");
  await soon(() => [...asked].sort()).toEqual(["errors", "latency", "requests", "spend", "tokens"]);
  expect(await rowOf(page, "Usage by model", "gantry/image").innerText()).toMatch(/100%\s+2\s+0\s+\$0\.06/);

  await page.getByLabel("Group by").selectOption("By mode");
  await rowOf(page, "Usage by mode", "Streamed").waitFor();
  await page.getByLabel("Model").selectOption("gantry/image");
  await soon(() => figure(page, "Requests").innerText()).toBe("2");
  expect(new URL(page.url()).search).toBe("?by=mode&model=gantry%2Fimage");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^usage-from-[\d-]+-to-[\d-]+\.csv$/);
  await page.getByRole("link", { name: "View predictions" }).click();
  await rowOf(page, "Predictions", "two").waitFor();
  expect(await rowOf(page, "Predictions", "What is 12").count()).toBe(0);
});

test("files show pictures and prompts, and several are deleted at once", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("collector");
  for (const prompt of ["a harbour", "a mountain", "a forest"]) await paint(gantry, key, prompt);
  const page = await pageOf(key);
  await page.goto("/console/files");
  const harbour = rowOf(page, "Files", "a harbour");
  await soon(() => harbour.locator("img").evaluate(widthOf)).toBe(1280);
  await page.getByLabel("Search by name or prompt").fill("HARBOUR");
  await soon(() => rowOf(page, "Files", "image.jpg").count()).toBe(1);
  await harbour.getByRole("link", { name: "image.jpg" }).click();
  await page
    .getByRole("dialog")
    .getByRole("link", { name: /^pred_/ })
    .waitFor();
  // The open file is in the address.
  await page.reload();
  await page.getByRole("dialog").getByText("a harbour").waitFor();
  await page.keyboard.press("Escape");

  await page.getByLabel("Search by name or prompt").fill("");
  await soon(() => rowOf(page, "Files", "image.jpg").count()).toBe(3);
  for (const prompt of ["a mountain", "a forest"]) await rowOf(page, "Files", prompt).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete 2 files" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete 2 files" }).click();
  await toast(page, "2 files deleted").waitFor();
  await soon(() => rowOf(page, "Files", "image.jpg").count()).toBe(1);
  await harbour.waitFor();
});

test("transactions name the model and lead to the prediction", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("payer");
  const { id } = await paint(gantry, key, "A red gate");
  const page = await pageOf(key);
  await page.goto("/console/money");
  await page.getByRole("figure", { name: /^Spending, last 90 days/ }).waitFor();
  await rowOf(page, "Transactions", id).getByText("−$0.03").click();
  await page.getByText("A red gate").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/predictions/${id}`);
});
