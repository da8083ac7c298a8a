import { afterAll, beforeAll, expect } from "vitest";
import { type ChatServer, startChatServer } from "../../server/test/support/chat-server.ts";
import { test } from "./support/console-test.ts";
import { textModel } from "./support/fixtures.ts";
import { rowOf, soon, toast } from "./support/on-page.ts";

/** The upstream of all models in this file. */
let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.close());

const manifest = (changes: object = {}) => textModel(chat.url, changes);

const selectedIn = (area: { value: string; selectionStart: number; selectionEnd: number }) =>
  area.value.slice(area.selectionStart, area.selectionEnd);

test("models are searched by name and description, and filtered by type", async ({ page }) => {
  await page.goto("/console/models");
  const models = page.getByRole("list", { name: "Models" });
  await models.getByRole("link", { name: "Gantry Image" }).waitFor();
  await page.getByLabel("Search models").fill("gantry/ima");
  await soon(() => models.getByRole("link").allInnerTexts()).toEqual(["Gantry Image"]);
  expect(new URL(page.url()).searchParams.get("q")).toBe("gantry/ima");

  // A word of its description.
  await page.getByLabel("Search models").fill("reference image");
  await models.getByRole("link", { name: "Gantry Image" }).waitFor();

  await page.getByLabel("Search models").fill("no such thing");
  await page.getByRole("button", { name: "Show all models" }).click();
  await page.getByLabel("Type").selectOption("text");
  await models.getByRole("link", { name: "Gantry Rules" }).waitFor();
  await soon(() => models.getByRole("link", { name: "Gantry Image" }).count()).toBe(0);
});

test("a model is created from JSON, with errors shown at their lines, and deleted", async ({ gantry, page }) => {
  const named = { title: "Made of JSON" };
  await page.goto("/console/models");
  await page.getByRole("button", { name: "New model (JSON)" }).click();
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

  // Leaving with edits asks first; another tab of the page keeps them.
  await page.getByRole("tab", { name: "Manifest" }).click();
  const manifestText = page.getByLabel("Manifest (JSON)");
  const stored = await manifestText.inputValue();
  await manifestText.fill(stored.replace("Made of JSON", "Edited"));
  await page.getByRole("tab", { name: "Details" }).click();
  await page.getByRole("tab", { name: "Manifest" }).click();
  expect(await manifestText.inputValue()).toContain("Edited");
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await question.getByRole("button", { name: "Stay" }).click();
  expect(await manifestText.inputValue()).toContain("Edited");

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete model" }).click();
  const deletion = page.getByRole("dialog", { name: "Delete admin/of-json?" });
  await deletion.getByRole("button", { name: "Delete model" }).click();
  await page.getByRole("list", { name: "Models" }).waitFor();
  await soon(() => page.getByRole("link", { name: "Made of JSON" }).count()).toBe(0);
  expect((await gantry.call("GET", "/api/v1/admin/of-json")).status).toBe(404);
});

test("every template of a new model is a valid manifest", async ({ page }) => {
  await page.goto("/console/models");
  for (const label of ["OpenAI", "Anthropic", "Google Gemini", "OpenAI images", "Rule-based text (built in)"]) {
    await page.getByRole("button", { name: "New model (JSON)" }).click();
    const dialog = page.getByRole("dialog", { name: "New model" });
    const name = `from-${label.toLowerCase().replaceAll(/[^a-z]+/g, "-")}x`;
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel("Template").selectOption({ label });
    await dialog.getByRole("button", { name: "Create model" }).click();
    await toast(page, `Model admin/${name} created`).waitFor();
    await page.goto("/console/models");
  }
});

test("the code for OpenAI clients works, and the prediction names the protocol", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("openai-caller", { credit: 10 });
  const page = await pageOf(key);
  await page.goto("/console/models/gantry/text?view=form");
  await page.getByLabel("Prompt (required)").fill("What is 12 * 34?");
  await page.getByRole("tab", { name: "API" }).click();
  const code = page.locator("figure pre");
  const shown = async (language: string) => {
    await page.getByRole("button", { name: language, exact: true }).click();
    return code.innerText();
  };
  expect(await shown("Python")).toContain("# pip install requests");
  expect(await shown("TypeScript")).toContain("new FormData()");
  await page.getByRole("tab", { name: "OpenAI" }).click();
  expect(await shown("Python")).toContain("from openai import OpenAI");
  expect(await shown("TypeScript")).toContain('import OpenAI from "openai";');
  const curl = await shown("curl");
  const [, path = ""] = /\/v1(\/\S+)/.exec(curl) ?? [];
  const [, body = "{}"] = /-d '(.*)'$/s.exec(curl) ?? [];
  const answer = await gantry.call("POST", `/v1${path}`, { key, json: JSON.parse(body) });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.choices[0].message.content).toContain("408");

  await page.goto("/console/predictions");
  await rowOf(page, "Predictions", "gantry/text").getByRole("link").first().click();
  await page.getByText("OpenAI Chat").first().waitFor();
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
  await page.goto("/console/models/router/twofold?view=form");
  await page.getByLabel("Prompt (required)").fill("Speak");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await soon(() => chat.open).toBe(1);
  chat.say("Hello");
  chat.end();
  await page.getByText("Succeeded", { exact: true }).first().waitFor();
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

  await page.goto("/console/predictions");
  await rowOf(page, "Predictions", "router/twofold").first().getByRole("link").first().click();
  await page.getByText("spare", { exact: true }).waitFor();
});
