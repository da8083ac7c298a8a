import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { textToImage } from "../../server/src/engines/models/comfyui/workflow.fixture.ts";
import { png } from "../../server/src/engines/models/media/backend.contract.ts";
import { startComfyui } from "../../server/src/engines/models/test-upstreams/comfyui-server.ts";
import { type ScriptedOllama, startScriptedOllama } from "../../server/test/support/scripted-ollama.ts";
import { test } from "./support/console-test.ts";
import { descriptionOf, soon, toast } from "./support/on-page.ts";

let ollama: ScriptedOllama;
beforeAll(async () => {
  ollama = await startScriptedOllama([
    { name: "llama3.2:3b" },
    { name: "gemma3:4b", capabilities: ["completion", "vision"], contextLength: 8192 },
    { name: "nomic-embed-text:latest", capabilities: ["embedding"], contextLength: 2048 },
  ]);
});
afterAll(() => ollama.close());

const step = (page: Page) => page.getByRole("list", { name: "Steps" }).locator("[aria-current=step]");
const choice = (page: Page, name: string) => page.getByRole("checkbox", { name, exact: true });

/** Runs in the page: controls without a name, ids that occur twice, and a page that is wider than the screen. */
const faultsOfPage = `(() => {
  const nameOf = (control) =>
    [control.getAttribute("aria-label"), control.textContent, ...[...(control.labels ?? [])].map((l) => l.textContent)]
      .join("").trim();
  const controls = [...document.querySelectorAll("main input, main select, main textarea, main button, main a")];
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  return [
    ...controls.filter((control) => nameOf(control) === "").map((control) => "unnamed: " + control.outerHTML),
    ...ids.filter((id, n) => ids.indexOf(id) !== n).map((id) => "twice: " + id),
    ...(document.querySelectorAll("h1").length === 1 ? [] : ["not one h1"]),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["too wide"] : []),
  ];
})()`;

async function expectSound(page: Page): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await page.evaluate(faultsOfPage)).toEqual([]);
  }
}

async function connectOllama(page: Page, name?: string): Promise<void> {
  await page.goto("/console/models/connect?type=ollama");
  await page.getByLabel("Address").fill(ollama.url);
  if (name !== undefined) {
    await page.getByText("More settings").click();
    await page.getByLabel("Name").fill(name);
  }
  await page.getByRole("button", { name: "Connect" }).click();
  await choice(page, "llama3.2:3b").waitFor();
}

test("an Ollama is connected, tested, imported and called within one visit", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("owner", { credit: 1 });
  const page = await pageOf(key);
  await page.goto("/console/models");
  await page.getByRole("link", { name: "Connect a model" }).click();
  await page.getByRole("heading", { name: "What do you want to connect?" }).waitFor();
  expect(await step(page).innerText()).toContain("Choose");
  // The operator's own findings are for admins.
  expect(await page.getByText("Found on the server").count()).toBe(0);
  await expectSound(page);

  await page.getByRole("link", { name: /^Ollama/ }).press("Enter");
  const heading = page.getByRole("heading", { name: "Connect Ollama" });
  await heading.waitFor();
  await soon(() => heading.evaluate((shown: { matches(selector: string): boolean }) => shown.matches(":focus"))).toBe(
    true,
  );
  expect(await page.getByLabel("Available to").count()).toBe(0);
  expect(await page.getByLabel("Address").inputValue()).toBe("http://127.0.0.1:11434");
  expect(await descriptionOf(page.getByLabel("Address"))).toContain("only if the operator allows");
  await expectSound(page);
  await page.getByLabel("Address").fill(ollama.url);
  await page.getByLabel("Address").press("Enter");

  await page.getByText(/and has 3 models/).waitFor();
  await choice(page, "llama3.2:3b").waitFor();
  const facts = page.getByRole("list", { name: "About gemma3:4b" });
  expect(await facts.getByRole("listitem").allInnerTexts()).toEqual([
    "Text",
    "8.2K context",
    "3.2B parameters",
    "Reads images",
  ]);
  await expectSound(page);
  // A reload keeps the step.
  await page.reload();
  await page.getByLabel("Search models").fill("embed");
  await soon(() => page.getByRole("list", { name: "Models of the provider" }).getByRole("checkbox").count()).toBe(1);
  await page.getByLabel("Select 1 found").check();
  await page.getByLabel("Search models").fill("");
  await choice(page, "llama3.2:3b").check();
  await page.getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "Import 2 models" }).click();

  await page.getByRole("heading", { name: "Your models are ready" }).waitFor();
  const models = page.getByRole("list", { name: "Imported models" });
  await soon(() => models.locator("code").allInnerTexts()).toEqual([
    "owner/llama3.2-3b",
    "owner/nomic-embed-text-latest",
  ]);
  await page.getByText(`base_url="${gantry.url}/v1"`).waitFor();
  await expectSound(page);
  await page.reload();
  await models.getByRole("link", { name: "Use in an agent" }).click();
  await soon(() => page.getByLabel("Model", { exact: true }).inputValue()).toBe("owner/llama3.2-3b");
  await page.goBack();
  ollama.llm.script = () => ({ text: "Hello from the rack" });
  await models.getByRole("link", { name: "Open playground" }).first().click();
  await page.getByLabel("Message").fill("Speak");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Hello from the rack").first().waitFor();

  // Back leads through the steps.
  await page.goBack();
  await page.getByRole("heading", { name: "Your models are ready" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Imported as owner/llama3.2-3b" }).waitFor();
  expect(await choice(page, "gemma3:4b").isChecked()).toBe(false);
});

test("a failed test says what to do, and new settings mend it", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("mender"));
  await page.goto("/console/models/connect?type=ollama");
  await page.getByLabel("Address").fill("/nonsense");
  await page.getByRole("button", { name: "Connect" }).click();
  await soon(() => page.getByLabel("Address").getAttribute("aria-invalid")).toBe("true");
  expect(await descriptionOf(page.getByLabel("Address"))).toContain("Must be an http or https URL");

  // The list may fail too, but only the test speaks. Nothing listens on the discard port.
  await page.route("**/discover", (route) => route.fulfill({ status: 400, json: { detail: [] } }));
  await page.getByLabel("Address").fill("http://127.0.0.1:9");
  await page.getByRole("button", { name: "Connect" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("Nothing listens at http://127.0.0.1:9").waitFor();
  expect(await alert.count()).toBe(1);
  await expectSound(page);
  await page.unrouteAll();
  await alert.getByRole("link", { name: "Change settings" }).click();
  await page.getByRole("heading", { name: "Settings of ollama" }).waitFor();
  expect(await page.getByLabel("Address").inputValue()).toBe("http://127.0.0.1:9");
  await page.getByLabel("Address").fill(ollama.url);
  await page.getByRole("button", { name: "Save and test" }).click();
  await choice(page, "llama3.2:3b").waitFor();
});

test("a key is stored as a secret and never shown again", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("keeper");
  // An unrelated secret with the name of the provider stays.
  await gantry.call("PUT", "/api/v2/secrets/openai", { key, json: { value: "sk-unrelated" } });
  const page = await pageOf(key);
  await page.goto("/console/models/connect?type=openai");
  const connect = page.getByRole("button", { name: "Connect" });
  expect(await connect.isDisabled()).toBe(true);
  await page.getByLabel("API key (required)").fill("sk-of-the-vendor");
  await page.getByText("More settings").click();
  await page.getByLabel("Address").fill(`${ollama.url}/v1`);
  await connect.click();
  await choice(page, "llama3.2:3b").waitFor();
  const { body } = await gantry.call("GET", "/api/v2/providers/openai", { key });
  expect(body).toMatchObject({ type: "openai", secret: "openai-2", url: `${ollama.url}/v1` });
  expect(ollama.seen.at(-1)?.headers.authorization).toBe("Bearer sk-of-the-vendor");
  expect(await page.content()).not.toContain("sk-of-the-vendor");

  await page.goto("/console/models/connect?provider=openai&edit=true");
  expect(await page.getByLabel("New API key").inputValue()).toBe("");
  await page.getByLabel("New API key").fill("sk-rotated");
  await page.getByRole("button", { name: "Save and test" }).click();
  await choice(page, "llama3.2:3b").waitFor();
  await soon(() => ollama.seen.at(-1)?.headers.authorization).toBe("Bearer sk-rotated");
  expect((await gantry.call("GET", "/api/v2/secrets", { key })).body.total_count).toBe(2);
});

test("an admin offers a vendor's model to everyone, with a price", async ({ gantry, page }) => {
  await page.goto("/console/models/connect?type=openai");
  await page.getByLabel("API key (required)").fill("sk-of-the-vendor");
  await page.getByLabel("Available to").selectOption("everyone");
  // Another choice keeps what was typed.
  expect(await page.getByLabel("API key (required)").inputValue()).toBe("sk-of-the-vendor");
  await page.getByText("More settings").click();
  await page.getByLabel("Address").fill(`${ollama.url}/v1`);
  await page.getByRole("button", { name: "Connect" }).click();
  await choice(page, "llama3.2:3b").check();
  await choice(page, "gemma3:4b").check();
  await page.getByRole("button", { name: "Import 2 models" }).click();
  await page.getByText("2 models need a price.").waitFor();
  const prices = page.getByRole("group", { name: "Price of llama3.2:3b" });
  const input = prices.getByLabel("$ per 1M input tokens");
  expect(await input.getAttribute("aria-invalid")).toBe("true");
  await expectSound(page);
  await input.fill("0.5");
  await prices.getByLabel("$ per 1M output tokens").fill("2");
  await prices.getByRole("button", { name: "Use for all selected" }).click();
  await page.getByRole("button", { name: "Import 2 models" }).click();
  await page.getByRole("heading", { name: "Your models are ready" }).waitFor();
  const user = { key: await gantry.newUser("guest") };
  expect((await gantry.call("GET", "/api/v1/gantry/gemma3-4b", user)).body).toMatchObject({
    visibility: "public",
    pricing: { per_million_input_tokens: 0.5, per_million_output_tokens: 2 },
  });
  expect((await gantry.call("GET", "/api/v2/admin/secrets")).body.results).toMatchObject([{ name: "openai" }]);
});

test("providers are listed, tested, updated and deleted", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("lister");
  const page = await pageOf(key);
  await page.goto("/console/providers");
  await page.getByText("No providers yet").waitFor();
  await connectOllama(page, "rack");
  await choice(page, "llama3.2:3b").check();
  await choice(page, "gemma3:4b").check();
  await page.getByRole("button", { name: "Import 2 models" }).click();
  await page.getByRole("heading", { name: "Your models are ready" }).waitFor();

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Providers" }).click();
  const row = page.getByRole("list", { name: "Providers" }).getByRole("listitem").filter({ hasText: "rack" });
  await row.getByText("2 models").waitFor();
  await expectSound(page);
  await row.getByRole("button", { name: "Test rack" }).click();
  await page
    .getByRole("dialog", { name: "Test of rack" })
    .getByText(/and has 3 models/)
    .waitFor();
  await page.keyboard.press("Escape");

  // The user edits a title, and the upstream changes the same model and drops another.
  await gantry.call("PATCH", "/api/v1/lister/llama3.2-3b", { key, json: { title: "Ours" } });
  const before = ollama.models;
  ollama.models = [{ name: "llama3.2:3b", contextLength: 65_536 }];
  await row.getByRole("button", { name: "Update models of rack" }).click();
  const dialog = page.getByRole("dialog", { name: "Models of rack" });
  await dialog.getByText("1 updated, 1 no longer offered").waitFor();
  await dialog.getByText("Kept your changes: title").waitFor();
  ollama.models = before;
  await dialog.getByRole("link", { name: "lister/llama3.2-3b" }).click();
  await page.getByRole("heading", { name: "Ours" }).waitFor();
  await page.getByRole("tab", { name: "Details" }).click();
  await page.getByText("65,536 tokens").waitFor();

  await page.goto("/console/providers");
  await row.getByRole("button", { name: "Delete" }).click();
  const question = page.getByRole("dialog", { name: "Delete provider rack?" });
  await question.getByText("You keep its 2 models.").waitFor();
  await question.getByRole("button", { name: "Delete" }).click();
  await toast(page, "Provider rack deleted").waitFor();
  await page.getByText("No providers yet").waitFor();
  expect((await gantry.call("GET", "/api/v1/lister/gemma3-4b", { key })).status).toBe(200);
});

test("workflows that ran lately on a ComfyUI become models", async ({ gantry, pageOf }) => {
  const comfy = await startComfyui();
  try {
    comfy.made.bytes = png;
    const page = await pageOf(await gantry.newUser("artist"));
    await page.goto("/console/models/connect?type=comfyui");
    await page.getByLabel("Address").fill(comfy.url);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "Workflows of comfyui" }).waitFor();
    await page.getByText("Run a workflow in ComfyUI once.").waitFor();
    comfy.addForeign(textToImage);
    await page.getByRole("button", { name: "Look again" }).click();
    const workflows = page.getByRole("list", { name: "Models of the provider" });
    await workflows.getByRole("checkbox").check();
    await workflows.getByText("Free").waitFor();
    await page.getByRole("button", { name: "Import workflow" }).click();
    await page.getByRole("link", { name: "Open playground" }).click();
    await page.getByLabel("Prompt (required)").fill("a boat");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("img", { name: "image" }).waitFor();
  } finally {
    await comfy.close();
  }
});
