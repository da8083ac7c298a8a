import { afterAll, beforeAll, expect } from "vitest";
import { type ChatServer, startChatServer } from "../../server/test/support/chat-server.ts";
import { test } from "./support/console-test.ts";
import { putModel, textModel } from "./support/made.ts";
import { figure, loseAnswer, rowOf, saidAt, soon, submitAt, toast } from "./support/on-page.ts";

/** Answers for all models that are made here. */
let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.close());

const manifest = (changes: object = {}) => textModel(chat.url, changes);

/** In the page; a picture that was refused or cannot be read has none. */
async function widthOf(picture: { decode(): Promise<void>; naturalWidth: number }): Promise<number> {
  await picture.decode();
  return picture.naturalWidth;
}
const selectedIn = (area: { value: string; selectionStart: number; selectionEnd: number }) =>
  area.value.slice(area.selectionStart, area.selectionEnd);

test("a model is found by its name, and by its kind", async ({ page }) => {
  await page.goto("/console/models");
  const models = page.getByRole("list", { name: "Models" });
  await models.getByRole("link", { name: "Gantry Image" }).waitFor();
  await page.getByLabel("Search by name or title").fill("gantry/ima");
  await soon(() => models.getByRole("link").allInnerTexts()).toEqual(["Gantry Image"]);
  expect(new URL(page.url()).searchParams.get("q")).toBe("gantry/ima");

  await page.getByLabel("Search by name or title").fill("no such thing");
  await page.getByRole("button", { name: "Show all models" }).click();
  await page.getByLabel("Kind").selectOption("text");
  await models.getByRole("link", { name: "Gantry Rules" }).waitFor();
  await soon(() => models.getByRole("link", { name: "Gantry Image" }).count()).toBe(0);
});

test("a run that is asked for twice in a moment is made and paid once", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("double-clicker", { credit: 10 });
  const made = async () => (await gantry.call("GET", "/api/v2/usage", { key })).body.total_count;
  const page = await pageOf(key);
  await page.goto("/console/models/gantry/image");
  await page.getByLabel("Prompt (required)").fill("A gate");
  const form = page.locator("form", { hasText: "Prompt" });
  await submitAt(form, [0, 0, 120, 300]);
  await page.getByText("Cost $0.03").waitFor();
  expect(await made()).toBe(1);
  await page.getByLabel("Prompt (required)").press("Control+Enter");
  await soon(() => page.getByText("Cost $0.03").count()).toBe(2);

  // What was not answered is asked for under the same name again.
  await page.route("**/predict/async/", loseAnswer);
  await page.waitForTimeout(600);
  await submitAt(form, [0]);
  await page.getByText("It may have been done").waitFor();
  await page.unrouteAll();
  await page.waitForTimeout(600);
  await submitAt(form, [0]);
  await soon(() => page.getByText("Cost $0.03").count()).toBe(3);
  expect(await made()).toBe(3);
});

test("a picture is painted, seen, counted and paid", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("painter", { credit: 10 });
  const page = await pageOf(key);
  await page.goto("/console/");
  await soon(() => figure(page, "Balance").innerText()).toBe("$10.00");

  await page.goto("/console/models/gantry/image");
  await page.getByLabel("Prompt (required)").fill("A red gate under a blue sky");
  await page.getByLabel("Size").selectOption("1280x720");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const picture = page.getByRole("img", { name: "image" });
  await picture.waitFor();
  expect(await picture.evaluate(widthOf)).toBe(1280);
  await page.getByText("Cost $0.03").waitFor();
  await page.getByText(/^Ran [\d.]+ m?s$/).waitFor();

  await page.getByRole("link", { name: "Usage" }).click();
  const row = rowOf(page, "Predictions", "gantry/image");
  await row.getByText("done").waitFor();
  expect(await row.innerText()).toContain("$0.03");
  // What was painted is kept, and shown again.
  await row.getByRole("button", { name: "gantry/image" }).click();
  await page.getByRole("dialog").getByRole("img", { name: "image" }).waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "Overview" }).click();
  await soon(() => figure(page, "Balance").innerText()).toBe("$9.97");
  expect((await gantry.call("GET", "/api/v2/me", { key })).body).toMatchObject({ balance: 9.97, reserved: 0 });
});

test("what a model streams is seen as it comes, and stops upstream when it is stopped", async ({ gantry, page }) => {
  await putModel(gantry, "slow", manifest());
  await page.goto("/console/models/admin/slow");
  await page.getByLabel("Prompt (required)").fill("Speak");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await soon(() => chat.open).toBe(1);
  chat.say("Hello");
  await page.getByText("Hello", { exact: true }).waitFor();
  chat.say(", you");
  await page.getByText("Hello, you", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  await soon(() => chat.open).toBe(0);
  // What it said stays to be read, and stands in the usage as it ended.
  expect(await page.getByText("Hello, you", { exact: true }).isVisible()).toBe(true);
  await soon(async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0]).toMatchObject({
    model_name: "admin/slow",
    status: 499,
  });
});

test("what is wrong with a field is told at the field, by the page and by the service", async ({ gantry, page }) => {
  const prompt = { type: "string", title: "Prompt", maxLength: 7 };
  const input = { type: "object", properties: { prompt }, required: ["prompt"] };
  await putModel(gantry, "narrow", manifest({ input }));
  await page.goto("/console/models/admin/narrow");
  const field = page.getByLabel("Prompt (required)");
  const run = page.getByRole("button", { name: "Run", exact: true });
  await run.click();
  await soon(() => field.getAttribute("aria-invalid")).toBe("true");
  await field.fill("12 monkeys");
  await soon(() => field.getAttribute("aria-invalid")).toBeNull();

  await run.click();
  await soon(() => field.getAttribute("aria-invalid")).toBe("true");
  expect(await saidAt(field)).toMatch(/7 characters/);
  expect(await page.locator("*:focus").getAttribute("id")).toBe(await field.getAttribute("id"));
  // It was none, so it is not shown as one.
  await page.getByText("Nothing has run yet").waitFor();
  await field.fill("monkeys");
  await run.click();
  await soon(() => chat.open).toBe(1);
  chat.say("Ook");
  chat.end();
  await page.getByText("done", { exact: true }).waitFor();
});

test("a model is made from JSON, after a fault in it was told at its line, and deleted", async ({ gantry, page }) => {
  const named = { title: "Made of JSON" };
  await page.goto("/console/models");
  await page.getByRole("button", { name: "New model" }).click();
  const dialog = page.getByRole("dialog", { name: "New model" });
  await dialog.getByLabel("Name").fill("of-json");
  const editor = dialog.getByLabel("Manifest as JSON");
  const create = dialog.getByRole("button", { name: "Create model" });
  await editor.fill('{\n  "title": "Made of JSON",\n  kind\n}');
  await create.click();
  await dialog.getByRole("alert").getByText("Line 3: From here on this is no JSON").waitFor();

  const faulty = JSON.stringify(manifest({ ...named, kind: "poem" }), null, 2);
  await editor.fill(faulty);
  await create.click();
  const line = 1 + faulty.split("\n").findIndex((one) => one.includes('"kind"'));
  await dialog.getByRole("button", { name: `Line ${line}, kind:` }).click();
  expect(await editor.evaluate(selectedIn)).toContain("poem");

  await editor.fill(JSON.stringify(manifest(named), null, 2));
  await create.click();
  await toast(page, "admin/of-json is there").waitFor();
  await page.getByRole("heading", { name: "Made of JSON" }).waitFor();
  expect((await gantry.call("GET", "/api/v1/admin/of-json")).body).toMatchObject({ title: "Made of JSON" });

  await page.getByRole("tab", { name: "Manifest" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete admin/of-json?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("list", { name: "Models" }).waitFor();
  await soon(() => page.getByRole("link", { name: "Made of JSON" }).count()).toBe(0);
  expect((await gantry.call("GET", "/api/v1/admin/of-json")).status).toBe(404);
});
