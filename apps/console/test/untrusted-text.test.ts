import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedServer, scriptedServer } from "../../server/src/engines/tools/scripted-server.fixture.ts";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { descriptionOf, rowOf, soon, toast } from "./support/on-page.ts";

/** Sets the flag if the page treats it as markup. */
const element = "<img src=x onerror=window.wasRun=1>";
const rightToLeft = "\u202e";
const name = `${element}${rightToLeft}${"W".repeat(100 - element.length - rightToLeft.length)}`;
const text = `${element}${rightToLeft}${"W".repeat(400)} javascript:window.wasRun=1`;
const address = "javascript:window.wasRun=1";

let llm: ScriptedLlm;
let tools: ScriptedServer;
beforeAll(async () => {
  llm = await startScriptedLlm(() => ({ text: `${text}\n${address}` }));
  tools = await scriptedServer({
    "on tools/list": ({ answer }) =>
      answer({
        tools: [
          {
            name: "echo",
            description: text,
            inputSchema: { type: "object", properties: { [element]: { type: "string", description: text } } },
          },
        ],
      }),
    "on tools/call": ({ answer }) => answer({ content: [{ type: "text", text }] }),
  });
});
afterAll(async () => {
  await tools.close();
  await llm.close();
});

/** Shown as plain text, within the width of a phone, without effect. */
async function expectHarmless(
  page: Page,
  path: string,
  within: Locator = page.locator("main, [role=dialog]"),
): Promise<void> {
  const shown = within.getByText(element).filter({ visible: true }).first();
  await shown.waitFor().catch((error) => {
    throw new Error(`${path} does not show the text`, { cause: error });
  });
  await expectNoMarkup(page, path);
}

async function expectNoMarkup(page: Page, path: string): Promise<void> {
  const found = await page.evaluate(`({
    wasRun: window.wasRun,
    elements: document.querySelectorAll('img[src="x"]').length,
    links: [...document.querySelectorAll("a[href], form[action]")]
      .map((link) => link.getAttribute("href") ?? link.getAttribute("action"))
      .filter((target) => /^\\s*(javascript|data|vbscript):/i.test(target)),
    beyond: document.documentElement.scrollWidth - window.innerWidth,
    cut: [...document.querySelectorAll("table:not(.sr-only *)")]
      .filter((table) => table.scrollWidth > table.parentElement.clientWidth)
      .map((table) => table.getAttribute("aria-label")),
    broken: [...document.querySelectorAll("[role=tab]")]
      .filter((tab) => tab.offsetHeight > 45)
      .map((tab) => tab.textContent),
  })`);
  expect(found, path).toEqual({ wasRun: undefined, elements: 0, links: [], beyond: 0, cut: [], broken: [] });
}

async function expectAllHarmless(page: Page, paths: readonly string[]): Promise<void> {
  await page.setViewportSize({ width: 360, height: 780 });
  for (const path of paths) {
    await page.goto(`/console/${path}`);
    await expectHarmless(page, path);
  }
}

async function create(gantry: GantryNode, path: string, json: object) {
  const created = await gantry.call("POST", path, { json });
  expect(created.status, created.text).toBe(201);
  return created.body;
}

/** A model whose texts are all hostile. */
function hostileModel(gantry: GantryNode): Promise<void> {
  const field = { type: "string", title: name, description: text };
  const properties = { prompt: field, choice: { ...field, enum: [name, address] } };
  const input = { type: "object", properties, required: ["prompt"] };
  return putModel(gantry, "hostile", textModel(llm.url, { title: name, description: text, input }));
}

test("texts of models and their outputs are harmless", async ({ gantry, page }) => {
  await hostileModel(gantry);
  const model = "models/admin/hostile";
  await expectAllHarmless(page, ["models", `${model}?tab=details`, `${model}?tab=api`, model]);
  await page.locator("[name=prompt]").fill(text);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Prediction succeeded").waitFor({ state: "attached" });
  await expectHarmless(page, "a result");

  await page.getByRole("link", { name: "Details", exact: true }).click();
  await page.waitForURL("**/console/predictions/pred_*");
  await page.locator("main").getByText(address).first().waitFor();
  await expectHarmless(page, "the page of a prediction");

  await page.goto("/console/predictions");
  await rowOf(page, "Predictions", "admin/hostile").first().waitFor();
  await expectHarmless(page, "the list of predictions");
});

/** A public agent on the hostile model. */
const hostileAgent = (gantry: GantryNode, fields: object = {}) =>
  putAgent(gantry, {
    name,
    goal: text,
    model: "admin/hostile",
    visibility: "public",
    tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
    input_schema: { type: "object", properties: { thing: { type: "string", title: name, description: text } } },
    instructions: { formatting: text },
    ...fields,
  });

test("texts of an agent are harmless for its creator and its buyers", async ({ gantry, page }) => {
  await hostileModel(gantry);
  const agent = await hostileAgent(gantry);
  const paths = ["", "?tab=edit", "?tab=revisions", "?tab=share"].map((tab) => `agents/${agent}${tab}`);
  const { slug } = (await gantry.call("GET", `/v1/agents/${agent}`)).body;
  await expectAllHarmless(page, ["agents", ...paths, "marketplace", `marketplace/admin/${slug}`]);
});

test("confirmations, tool results and outputs of a run are harmless", async ({ gantry, page }) => {
  await hostileModel(gantry);
  const server = await create(gantry, "/v1/mcp-servers", {
    name: "hostile",
    url: tools.url,
    connection_type: "streamable_http",
  });
  const agent = await hostileAgent(gantry, { mcp_servers: [{ id: server.id }] });
  llm.script = inTurn(
    { calls: [{ name: "hostile__echo", args: { [element]: text } }] },
    { text, calls: [{ name: "run_javascript", args: { code: JSON.stringify(text) } }] },
    { text: `${text}\n${address}` },
  );
  const run = await create(gantry, `/v1/agents/${agent}/runs`, { input: { thing: text } });
  await expectAllHarmless(page, [`tool-servers/${server.id}`, `runs/${run.id}`]);
  const confirmation = page.getByRole("region", { name: "Confirmation for run_javascript" });
  await confirmation.getByText(element).first().waitFor();
  await expectHarmless(page, "a confirmation");
  await confirmation.getByLabel("Reason").fill(text);
  await confirmation.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("tabpanel").getByText(address).waitFor();
  await expectHarmless(page, "a finished run");
  for (const step of await page.getByRole("treeitem").all()) {
    await step.click();
    const sheet = page.getByRole("dialog");
    if (!(await sheet.isVisible())) continue;
    for (const message of await sheet.locator("summary").all()) await message.click();
    await expectNoMarkup(page, "a step");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
  }
  await expectAllHarmless(page, ["runs", "approvals?status=approved"]);
});

test("names of drives, files and keys, and reasons of credits are harmless", async ({ gantry, page }) => {
  const drive = await create(gantry, "/v1/drives", { name, description: text });
  const folder = `/${name.replaceAll("/", "")}`;
  const files: [string, string, string][] = [
    [`${folder}.txt`, text, "text/plain"],
    [`${folder}/page.html`, `<script>window.wasRun=1</script>${text}`, "text/html"],
    [`${folder}/picture.svg`, `<svg xmlns="http://www.w3.org/2000/svg" onload="window.wasRun=1"/>`, "image/svg+xml"],
  ];
  for (const [path, content, type] of files) {
    const form = { path, file: new File([content], "any", { type }) };
    const put = await gantry.call("POST", `/v1/drives/${drive.id}/files`, { form });
    expect(put.status, put.text).toBe(201);
  }
  await create(gantry, "/api/v2/keys", { name });
  await create(gantry, "/api/v2/admin/users/admin/credits", { amount: 1, reason: text.slice(0, 500) });
  const inFolder = `drives/${drive.id}?path=${encodeURIComponent(folder)}`;
  await expectAllHarmless(page, ["drives", `drives/${drive.id}`, inFolder, "keys", "money", "admin/users/admin"]);
  for (const [path] of files) {
    await page.goto(`/console/${inFolder}&file=${encodeURIComponent(path)}`);
    await page.getByRole("dialog").locator("pre, img").waitFor();
    await expectHarmless(page, path);
  }

  await page.goto(`/console/drives/${drive.id}`);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expectHarmless(page, "a confirmation before deletion");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await toast(page, `${name} deleted`).waitFor();
  await expectHarmless(page, "a toast", page.getByRole("status"));
});

test("script URLs are refused in forms and ignored in the address bar", async ({ page }) => {
  for (const path of [`models/${encodeURIComponent(element)}/x`, `agents/${encodeURIComponent(address)}`]) {
    await page.goto(`/console/${path}`);
    await page.getByRole("alert").waitFor();
    expect(await page.evaluate("window.wasRun"), path).toBeUndefined();
  }
  await page.goto("/console/tool-servers");
  await page.getByRole("button", { name: "Connect server" }).click();
  const form = page.getByRole("dialog", { name: "Connect tool server" });
  await form.getByLabel("Name").fill("scripted");
  const field = form.getByLabel("URL");
  await field.fill(address);
  await form.getByRole("button", { name: "Connect", exact: true }).click();
  await soon(() => field.getAttribute("aria-invalid")).toBe("true");
  expect(await descriptionOf(field)).toMatch(/http/);
});
