import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ChatServer, startChatServer } from "../../server/test/support/chat-server.ts";
import { test } from "./support/console-test.ts";
import { putModel, textModel } from "./support/fixtures.ts";
import { descriptionOf, loseAnswer, soon, submitAt, tile } from "./support/on-page.ts";

/** The upstream of all models in this file. */
let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.close());

const manifest = (changes: object = {}) => textModel(chat.url, changes);
const runButton = (page: Page) => page.getByRole("button", { name: "Run", exact: true });
const history = (page: Page) => page.getByRole("list", { name: "History" }).getByRole("listitem");
const prompt = (page: Page) => page.getByLabel("Prompt (required)");
const succeeded = (page: Page) => page.getByText("Prediction succeeded");

/** Painting takes a while on a busy machine. */
const paintingTime = { timeout: 40_000 };

/** Runs in the page. A picture that failed to load has no width. */
async function widthOf(picture: { decode(): Promise<void>; naturalWidth: number }): Promise<number> {
  await picture.decode();
  return picture.naturalWidth;
}

test("a double click runs and charges a prediction once", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("double-clicker", { credit: 10 });
  const predictions = async () => (await gantry.call("GET", "/api/v2/usage", { key })).body.total_count;
  const page = await pageOf(key);
  await page.goto("/console/models/gantry/image");
  await prompt(page).fill("A gate");
  const form = page.locator("form", { hasText: "Prompt" });
  await submitAt(form, [0, 0, 120, 300]);
  await page.getByText("Cost $0.03").waitFor(paintingTime);
  expect(await predictions()).toBe(1);
  await prompt(page).press("Control+Enter");
  await expect.poll(() => history(page).filter({ hasText: "Succeeded" }).count()).toBe(2);

  // A retry after a lost answer uses the same Idempotency-Key.
  await page.route("**/predict/async/", loseAnswer);
  await page.waitForTimeout(600);
  await submitAt(form, [0]);
  await page.getByText("This request may have gone through").waitFor();
  await page.unrouteAll();
  await page.waitForTimeout(600);
  await submitAt(form, [0]);
  await expect.poll(() => history(page).filter({ hasText: "Succeeded" }).count()).toBe(3);
  expect(await predictions()).toBe(3);
});

test("an image is generated, charged, and survives Back, reload and reuse", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("painter", { credit: 10 });
  const page = await pageOf(key);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/console/models/gantry/image");
  // Visible without scrolling.
  expect((await runButton(page).boundingBox())?.y).toBeLessThan(770);
  await prompt(page).fill("A red gate under a blue sky");
  await page.getByLabel("Size").selectOption("1280x720");
  await runButton(page).click();
  const picture = page.getByRole("img", { name: "image" });
  await picture.waitFor(paintingTime);
  expect(await picture.evaluate(widthOf)).toBe(1280);
  await page.getByText("Cost $0.03").waitFor();
  await page.getByText(/^Duration [\d.]+ m?s$/).waitFor();

  const expectSame = async () => {
    await soon(() => prompt(page).inputValue()).toBe("A red gate under a blue sky");
    expect(await page.getByLabel("Size").inputValue()).toBe('"1280x720"');
    expect(await picture.evaluate(widthOf)).toBe(1280);
    await page.getByText("Cost $0.03").waitFor();
  };
  await page.reload();
  await expectSame();
  await page.getByRole("link", { name: "Overview" }).click();
  await soon(() => tile(page, "Balance").innerText()).toContain("$9.97");
  await page.goBack();
  await expectSame();

  // The history is the server's, and fills the form of a new visit.
  await page.goto("/console/models/gantry/image");
  await soon(() => prompt(page).inputValue()).not.toContain("red gate");
  await history(page).filter({ hasText: "A red gate" }).getByRole("button", { name: "Reuse input" }).click();
  await soon(() => prompt(page).inputValue()).toBe("A red gate under a blue sky");
  expect(await page.getByLabel("Size").inputValue()).toBe('"1280x720"');
  await history(page).getByRole("link", { name: "A red gate" }).click();
  await page.waitForURL("**/console/predictions/pred_*");
});

test("a picture that failed to load is loaded again", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("retrier", { credit: 10 }));
  await page.goto("/console/models/gantry/image");
  await page.route("**/s3/**", (route) => route.fulfill({ status: 404, body: "" }));
  await prompt(page).fill("A gate");
  await runButton(page).click();
  await page.getByText("The picture could not be loaded.").waitFor(paintingTime);
  await page.unrouteAll();
  await page.getByRole("button", { name: "Load again" }).click();
  expect(await page.getByRole("img", { name: "image" }).evaluate(widthOf)).toBeGreaterThan(100);
});

test("streamed text survives a reload, and Stop cancels the upstream request", async ({ gantry, page }) => {
  await putModel(gantry, "slow", manifest());
  await page.goto("/console/models/admin/slow?view=form");
  await prompt(page).fill("Speak");
  await runButton(page).click();
  await soon(() => chat.open).toBe(1);
  chat.say("Hello");
  await page.getByText("Hello", { exact: true }).first().waitFor();
  await page.reload();
  await page.getByText("Hello", { exact: true }).first().waitFor();
  expect(await prompt(page).inputValue()).toBe("Speak");
  chat.say(", you");
  await page.getByText("Hello, you", { exact: true }).first().waitFor();

  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
  await soon(() => chat.open).toBe(0);
  await page.getByText(/^Duration /).waitFor();
  // The page was opened after the first token.
  expect(await page.getByText(/^First token /).count()).toBe(0);
  // The streamed text stays visible, and the usage lists the prediction as cancelled.
  await page.getByText("Hello, you", { exact: true }).first().waitFor();
  await soon(async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0]).toMatchObject({
    model_name: "admin/slow",
    status: 499,
  });
});

test("a prediction that was cancelled before its answer arrived does not go on", async ({ gantry, page }) => {
  await putModel(gantry, "hasty", manifest());
  await page.goto("/console/models/admin/hasty?view=form");
  const held = Promise.withResolvers<void>();
  await page.route("**/predict/async/", async (route) => {
    const response = await route.fetch();
    await held.promise;
    await route.fulfill({ response });
  });
  await prompt(page).fill("Speak");
  await runButton(page).click();
  await soon(() => chat.open).toBe(1);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  held.resolve();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
  await soon(() => chat.open).toBe(0);
  await soon(() => history(page).filter({ hasText: "Cancelled" }).count()).toBe(1);
});

test("errors of the form and of the API appear at the field", async ({ gantry, page }) => {
  const field = { type: "string", title: "Prompt", maxLength: 7 };
  const input = { type: "object", properties: { prompt: field }, required: ["prompt"] };
  await putModel(gantry, "narrow", manifest({ input }));
  await page.goto("/console/models/admin/narrow?view=form");
  await runButton(page).click();
  await soon(() => prompt(page).getAttribute("aria-invalid")).toBe("true");
  await prompt(page).fill("12 monkeys");
  await soon(() => prompt(page).getAttribute("aria-invalid")).toBeNull();

  await runButton(page).click();
  await soon(() => prompt(page).getAttribute("aria-invalid")).toBe("true");
  expect(await descriptionOf(prompt(page))).toMatch(/7 characters/);
  expect(await page.locator("*:focus").getAttribute("id")).toBe(await prompt(page).getAttribute("id"));
  // A refused input does not count as a run.
  await page.getByText("No output yet").waitFor();
  await prompt(page).fill("monkeys");
  await runButton(page).click();
  await soon(() => chat.open).toBe(1);
  chat.say("Ook");
  chat.end();
  await succeeded(page).waitFor({ state: "attached" });
});

test("the input can be written as JSON", async ({ gantry, page }) => {
  const properties = { prompt: { type: "string", title: "Prompt" }, count: { type: "integer", title: "Count" } };
  await putModel(gantry, "typed", manifest({ input: { type: "object", properties, required: ["prompt"] } }));
  await page.goto("/console/models/admin/typed?view=form");
  await prompt(page).fill("Hello");
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const json = page.getByLabel("Input (JSON)");
  expect(JSON.parse(await json.inputValue())).toEqual({ prompt: "Hello" });
  await json.fill('{ "prompt": "Bye", "count": 3, ');
  expect(await descriptionOf(json)).toMatch(/Invalid JSON/);
  await json.fill('{ "prompt": "Bye", "counts": 3 }');
  expect(await descriptionOf(json)).toMatch(/no field counts/);
  await json.fill('{ "prompt": "Bye", "count": 3 }');
  // "Chat | Form" of the page comes first.
  await page.getByRole("button", { name: "Form", exact: true }).last().click();
  expect(await prompt(page).inputValue()).toBe("Bye");
  expect(await page.getByLabel("Count").inputValue()).toBe("3");
});

test("a failed prediction names the request that failed", async ({ gantry, page }) => {
  await putModel(
    gantry,
    "broken",
    manifest({ backend: { type: "openai-chat", url: "http://127.0.0.1:9/v1", model: "x" } }),
  );
  await page.goto("/console/models/admin/broken?view=form");
  await prompt(page).fill("Speak");
  const sent = page.waitForResponse("**/predict/async/");
  await runButton(page).click();
  const requestId = (await sent).headers()["x-request-id"];
  expect(requestId).toMatch(/^req_/);
  await page.getByRole("alert").getByText(String(requestId)).waitFor();
});
