import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { putAgent } from "./support/fixtures.ts";
import { soon, toast } from "./support/on-page.ts";

test("memory, a webhook and the settings of a tool are saved with the draft", async ({ gantry, page }) => {
  const drive = (await gantry.call("POST", "/v1/drives", { json: { name: "Notes" } })).body.id;
  await gantry.call("PUT", "/api/v2/secrets/search-key", { json: { value: "a-search-key" } });
  const agent = await putAgent(gantry, { name: "Researcher", model: "gantry/text" });
  await page.goto(`/console/agents/${agent}?tab=edit`);
  const form = page.getByRole("form", { name: "Agent" });
  await page.getByLabel("Search tools").fill("web_search");
  await form.getByRole("checkbox", { name: "web_search", exact: true }).check();
  const settings = form.getByRole("group", { name: "Settings of web_search" });
  await settings.getByLabel("provider").selectOption("brave");
  await settings.getByLabel("secret").selectOption("search-key");

  await form.getByRole("button", { name: "Memory" }).click();
  await form.getByLabel("Keep notes between runs").check();
  await form.getByLabel("File").fill("/research/notes.md");
  await form.getByRole("button", { name: "Webhook" }).click();
  await form.getByLabel("Webhook URL").fill("ftp://example.com");
  await form.getByRole("button", { name: "Save draft" }).click();
  await soon(() => form.getByLabel("Webhook URL").getAttribute("aria-invalid")).toBe("true");
  await form.getByLabel("Webhook URL").fill("https://example.com/hook");
  await form.getByLabel("Run done").uncheck();
  await form.getByRole("button", { name: "Save draft" }).click();
  await toast(page, "Draft saved").waitFor();

  expect((await gantry.call("GET", `/v1/agents/${agent}`)).body).toMatchObject({
    tools: [{ type: "tool", id: "web_search", arguments: { provider: "brave", secret: "search-key" } }],
    memory: { drive, path: "/research/notes.md" },
    webhook: { url: "https://example.com/hook", events: ["error", "confirmation_required"] },
  });
}, 120_000);
