import { afterAll, beforeAll, expect } from "vitest";
import { type ChatServer, startChatServer } from "../../server/test/support/chat-server.ts";
import { test } from "./support/console-test.ts";
import { putModel, textModel } from "./support/fixtures.ts";
import { descriptionOf, figure, loseAnswer, rowOf, soon, submitAt, toast } from "./support/on-page.ts";

/** The upstream of all models in this file. */
let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.close());

const manifest = (changes: object = {}) => textModel(chat.url, changes);

/** Runs in the page. A picture that failed to load has no width. */
async function widthOf(picture: { decode(): Promise<void>; naturalWidth: number }): Promise<number> {
  await picture.decode();
  return picture.naturalWidth;
}
const selectedIn = (area: { value: string; selectionStart: number; selectionEnd: number }) =>
  area.value.slice(area.selectionStart, area.selectionEnd);

test("models are searched by name and filtered by type", async ({ page }) => {
  await page.goto("/console/models");
  const models = page.getByRole("list", { name: "Models" });
  await models.getByRole("link", { name: "Gantry Image" }).waitFor();
  await page.getByLabel("Search by name or title").fill("gantry/ima");
  await soon(() => models.getByRole("link").allInnerTexts()).toEqual(["Gantry Image"]);
  expect(new URL(page.url()).searchParams.get("q")).toBe("gantry/ima");

  await page.getByLabel("Search by name or title").fill("no such thing");
  await page.getByRole("button", { name: "Show all models" }).click();
  await page.getByLabel("Type").selectOption("text");
  await models.getByRole("link", { name: "Gantry Rules" }).waitFor();
  await soon(() => models.getByRole("link", { name: "Gantry Image" }).count()).toBe(0);
});

test("a double click runs and charges a prediction once", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("double-clicker", { credit: 10 });
  const predictions = async () => (await gantry.call("GET", "/api/v2/usage", { key })).body.total_count;
  const page = await pageOf(key);
  await page.goto("/console/models/gantry/image");
  await page.getByLabel("Prompt (required)").fill("A gate");
  const form = page.locator("form", { hasText: "Prompt" });
  await submitAt(form, [0, 0, 120, 300]);
  await page.getByText("Cost $0.03").waitFor();
  expect(await predictions()).toBe(1);
  await page.getByLabel("Prompt (required)").press("Control+Enter");
  await soon(() => page.getByText("Cost $0.03").count()).toBe(2);

  // A retry after a lost answer uses the same Idempotency-Key.
  await page.route("**/predict/async/", loseAnswer);
  await page.waitForTimeout(600);
  await submitAt(form, [0]);
  await page.getByText("This request may have gone through").waitFor();
  await page.unrouteAll();
  await page.waitForTimeout(600);
  await submitAt(form, [0]);
  await soon(() => page.getByText("Cost $0.03").count()).toBe(3);
  expect(await predictions()).toBe(3);
});

test("an image is generated, shown, listed in the usage and charged", async ({ gantry, pageOf }) => {
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
  await page.getByText(/^Duration [\d.]+ m?s$/).waitFor();

  await page.getByRole("link", { name: "Usage" }).click();
  const row = rowOf(page, "Predictions", "gantry/image");
  await row.getByText("Done").waitFor();
  expect(await row.innerText()).toContain("$0.03");
  // The stored result is shown again.
  await row.getByRole("button", { name: "gantry/image" }).click();
  await page.getByRole("dialog").getByRole("img", { name: "image" }).waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "Overview" }).click();
  await soon(() => figure(page, "Balance").innerText()).toBe("$9.97");
  expect((await gantry.call("GET", "/api/v2/me", { key })).body).toMatchObject({ balance: 9.97, reserved: 0 });
});

test("streamed text appears as it arrives, and Stop cancels the upstream request", async ({ gantry, page }) => {
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
  await page.getByText("Cancelled", { exact: true }).waitFor();
  await soon(() => chat.open).toBe(0);
  // The streamed text stays visible, and the usage lists the prediction as cancelled.
  expect(await page.getByText("Hello, you", { exact: true }).isVisible()).toBe(true);
  await soon(async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0]).toMatchObject({
    model_name: "admin/slow",
    status: 499,
  });
});

test("errors of the form and of the API appear at the field", async ({ gantry, page }) => {
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
  expect(await descriptionOf(field)).toMatch(/7 characters/);
  expect(await page.locator("*:focus").getAttribute("id")).toBe(await field.getAttribute("id"));
  // A refused input does not count as a run.
  await page.getByText("No output yet").waitFor();
  await field.fill("monkeys");
  await run.click();
  await soon(() => chat.open).toBe(1);
  chat.say("Ook");
  chat.end();
  await page.getByText("Done", { exact: true }).waitFor();
});

test("a model is created from JSON, with errors shown at their lines, and deleted", async ({ gantry, page }) => {
  const named = { title: "Made of JSON" };
  await page.goto("/console/models");
  await page.getByRole("button", { name: "New model" }).click();
  const dialog = page.getByRole("dialog", { name: "New model" });
  await dialog.getByLabel("Name").fill("of-json");
  const editor = dialog.getByLabel("Manifest (JSON)");
  const create = dialog.getByRole("button", { name: "Create model" });
  await editor.fill('{\n  "title": "Made of JSON",\n  kind\n}');
  await create.click();
  await dialog.getByRole("alert").getByText("Line 3: Invalid JSON from this line").waitFor();

  const faulty = JSON.stringify(manifest({ ...named, kind: "poem" }), null, 2);
  await editor.fill(faulty);
  await create.click();
  const line = 1 + faulty.split("\n").findIndex((text) => text.includes('"kind"'));
  await dialog.getByRole("button", { name: `Line ${line}, kind:` }).click();
  expect(await editor.evaluate(selectedIn)).toContain("poem");

  await editor.fill(JSON.stringify(manifest(named), null, 2));
  await create.click();
  await toast(page, "Model admin/of-json created").waitFor();
  await page.getByRole("heading", { name: "Made of JSON" }).waitFor();
  expect((await gantry.call("GET", "/api/v1/admin/of-json")).body).toMatchObject({ title: "Made of JSON" });

  await page.getByRole("tab", { name: "Manifest" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete admin/of-json?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("list", { name: "Models" }).waitFor();
  await soon(() => page.getByRole("link", { name: "Made of JSON" }).count()).toBe(0);
  expect((await gantry.call("GET", "/api/v1/admin/of-json")).status).toBe(404);
});

test("the code for OpenAI clients works, and the usage names the protocol", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("openai-caller", { credit: 10 });
  const page = await pageOf(key);
  await page.goto("/console/models/gantry/text");
  await page.getByLabel("Prompt (required)").fill("What is 12 * 34?");
  await page.getByRole("tab", { name: "API" }).click();
  await page.getByRole("tab", { name: "OpenAI" }).click();
  await page.getByText("from openai import OpenAI").waitFor();
  await page.getByText('import OpenAI from "openai";').waitFor();
  const curl = await page.locator("figure", { hasText: "OpenAI with curl" }).locator("pre").innerText();
  const [, path = ""] = /\/v1(\/\S+)/.exec(curl) ?? [];
  const [, body = "{}"] = /-d '(.*)'$/s.exec(curl) ?? [];
  const answer = await gantry.call("POST", `/v1${path}`, { key, json: JSON.parse(body) });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.choices[0].message.content).toContain("408");

  await page.goto("/console/usage");
  const row = rowOf(page, "Predictions", "gantry/text");
  await row.getByText("OpenAI Chat").waitFor();
  await row.getByRole("button", { name: "gantry/text" }).click();
  await page.getByRole("dialog").getByText("OpenAI Chat").waitFor();
});

test("the owner of a model sees which backends answer and why one is paused", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("router", { credit: 10 });
  const { backend, ...rest } = manifest({ visibility: "private" });
  // Nothing listens on the discard port.
  const dead = { ...backend, name: "dead", url: "http://127.0.0.1:9/v1" };
  const json = { ...rest, backends: [dead, { ...backend, name: "spare", priority: 1 }] };
  const put = await gantry.call("PUT", "/api/v1/router/twofold", { key, json });
  expect(put.status, put.text).toBe(201);
  const page = await pageOf(key);
  await page.goto("/console/models/router/twofold");
  await page.getByLabel("Prompt (required)").fill("Speak");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await soon(() => chat.open).toBe(1);
  chat.say("Hello");
  chat.end();
  await page.getByText("Done", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Details" }).click();
  await soon(() => rowOf(page, "Backends", "spare").innerText()).toMatch(/In use[\s\S]*1 call/);
  await soon(() => rowOf(page, "Backends", "dead").innerText()).toMatch(/1 call, 1 failed/);

  // After a few failures in a row, calls no longer try it first.
  for (let n = 0; n < 10 && !(await rowOf(page, "Backends", "dead").innerText()).includes("Paused"); n++) {
    const calling = gantry.call("POST", "/v1/chat/completions", {
      key,
      json: { model: "router/twofold", stream: true, messages: [{ role: "user", content: "Speak" }] },
    });
    await soon(() => chat.open).toBe(1);
    chat.say("Hello");
    chat.end();
    expect((await calling).status).toBe(200);
    await page.waitForTimeout(1_000);
  }
  await soon(() => rowOf(page, "Backends", "dead").innerText()).toMatch(/Paused[\s\S]*Not reachable/);

  // The manifest is shown whole and can be saved again.
  await page.getByRole("tab", { name: "Manifest" }).click();
  const editor = page.getByLabel("Manifest (JSON)");
  const text = await editor.inputValue();
  expect(JSON.parse(text).backends.map(({ name }: { name: string }) => name)).toEqual(["dead", "spare"]);
  await editor.fill(text.replace('"capacity": 10', '"capacity": 11'));
  await page.getByRole("button", { name: "Save" }).click();
  await toast(page, "Model saved").waitFor();
  expect((await gantry.call("GET", "/api/v1/router/twofold", { key })).body).toMatchObject({ capacity: 11 });

  await page.goto("/console/usage");
  const row = rowOf(page, "Predictions", "router/twofold").first();
  await row.getByText("by spare").waitFor();
  await row.getByRole("button", { name: "router/twofold" }).click();
  await page.getByRole("dialog").getByText("Backend", { exact: true }).waitFor();
});
