import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedServer, scriptedServer } from "../../server/src/engines/tools/scripted-server.fixture.ts";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/made.ts";
import { saidAt, soon, toast } from "./support/on-page.ts";

/** Would set the flag if it were taken for a part of the page. */
const element = "<img src=x onerror=window.wasRun=1>";
const turned = "\u202e";
const name = `${element}${turned}${"W".repeat(100 - element.length - turned.length)}`;
const words = `${element}${turned}${"W".repeat(400)} javascript:window.wasRun=1`;
const address = "javascript:window.wasRun=1";

let llm: ScriptedLlm;
let tools: ScriptedServer;
beforeAll(async () => {
  llm = await startScriptedLlm(() => ({ text: `${words}\n${address}` }));
  tools = await scriptedServer({
    "on tools/list": ({ answer }) =>
      answer({
        tools: [
          {
            name: "echo",
            description: words,
            inputSchema: { type: "object", properties: { [element]: { type: "string", description: words } } },
          },
        ],
      }),
    "on tools/call": ({ answer }) => answer({ content: [{ type: "text", text: words }] }),
  });
});
afterAll(async () => {
  await tools.close();
  await llm.close();
});

/** Shown as the text that it is, within the width of a telephone, and of no effect. */
async function expectHarmless(
  page: Page,
  place: string,
  within: Locator = page.locator("main, [role=dialog]"),
): Promise<void> {
  const shown = within.getByText(element).filter({ visible: true }).first();
  await shown.waitFor().catch((error) => {
    throw new Error(`${place} does not show it`, { cause: error });
  });
  const found = await page.evaluate(`({
    wasRun: window.wasRun,
    elements: document.querySelectorAll('img[src="x"]').length,
    links: [...document.querySelectorAll("a[href], form[action]")]
      .map((link) => link.getAttribute("href") ?? link.getAttribute("action"))
      .filter((target) => /^\\s*(javascript|data|vbscript):/i.test(target)),
    beyond: document.documentElement.scrollWidth - window.innerWidth,
    cut: [...document.querySelectorAll("table")]
      .filter((table) => table.scrollWidth > table.parentElement.clientWidth)
      .map((table) => table.getAttribute("aria-label")),
    broken: [...document.querySelectorAll("[role=tab]")]
      .filter((tab) => tab.offsetHeight > 45)
      .map((tab) => tab.textContent),
  })`);
  expect(found, place).toEqual({ wasRun: undefined, elements: 0, links: [], beyond: 0, cut: [], broken: [] });
}

async function expectAllHarmless(page: Page, places: readonly string[]): Promise<void> {
  await page.setViewportSize({ width: 360, height: 780 });
  for (const place of places) {
    await page.goto(`/console/${place}`);
    await expectHarmless(page, place);
  }
}

async function make(gantry: GantryNode, path: string, json: object) {
  const made = await gantry.call("POST", path, { json });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** A text model all of whose words are somebody's. */
function hostileModel(gantry: GantryNode): Promise<void> {
  const field = { type: "string", title: name, description: words };
  const properties = { prompt: field, choice: { ...field, enum: [name, address] } };
  const input = { type: "object", properties, required: ["prompt"] };
  return putModel(gantry, "hostile", textModel(llm.url, { title: name, description: words, input }));
}

test("words of models and their outputs are words", async ({ gantry, page }) => {
  await hostileModel(gantry);
  const model = "models/admin/hostile";
  await expectAllHarmless(page, ["models", `${model}?tab=details`, `${model}?tab=api`, model]);
  await page.locator("[name=prompt]").fill(words);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("done", { exact: true }).waitFor();
  await expectHarmless(page, "a result");

  await page.goto("/console/usage");
  await page.getByRole("button", { name: "admin/hostile" }).click();
  await page.getByRole("dialog").getByText(address).waitFor();
  await expectHarmless(page, "the result in the usage");
});

/** A public agent on that model, and what it may call. */
const hostileAgent = (gantry: GantryNode, fields: object = {}) =>
  putAgent(gantry, {
    name,
    goal: words,
    model: "admin/hostile",
    visibility: "public",
    tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
    input_schema: { type: "object", properties: { thing: { type: "string", title: name, description: words } } },
    instructions: { formatting: words },
    ...fields,
  });

test("words of an agent are words, to its maker and to all who may buy it", async ({ gantry, page }) => {
  await hostileModel(gantry);
  const agent = await hostileAgent(gantry);
  const places = ["", "?tab=edit", "?tab=revisions", "?tab=share"].map((tab) => `agents/${agent}${tab}`);
  const { slug } = (await gantry.call("GET", `/v1/agents/${agent}`)).body;
  await expectAllHarmless(page, ["agents", ...places, "marketplace", `marketplace/admin/${slug}`]);
});

test("what a run asks, what its tools say and what it ends with are words", async ({ gantry, page }) => {
  await hostileModel(gantry);
  const server = await make(gantry, "/v1/mcp-servers", {
    name: "hostile",
    url: tools.url,
    connection_type: "streamable_http",
  });
  const agent = await hostileAgent(gantry, { mcp_servers: [{ id: server.id }] });
  llm.script = inTurn(
    { calls: [{ name: "hostile__echo", args: { [element]: words } }] },
    { text: words, calls: [{ name: "run_javascript", args: { code: JSON.stringify(words) } }] },
    { text: `${words}\n${address}` },
  );
  const run = await make(gantry, `/v1/agents/${agent}/runs`, { input: { thing: words } });
  await expectAllHarmless(page, [`tool-servers/${server.id}`, `runs/${run.id}`]);
  const question = page.getByRole("region", { name: "Question about run_javascript" });
  await question.getByText(element).first().waitFor();
  await expectHarmless(page, "a question");
  await question.getByLabel("Reason").fill(words);
  await question.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("tabpanel").getByText(address).waitFor();
  for (const call of await page.locator("summary").all()) await call.click();
  await expectHarmless(page, "a run that is done");
  await expectAllHarmless(page, ["runs"]);
});

test("names of drives, files, keys and reasons are names and reasons", async ({ gantry, page }) => {
  const drive = await make(gantry, "/v1/drives", { name, description: words });
  const folder = `/${name.replaceAll("/", "")}`;
  const files: [string, string, string][] = [
    [`${folder}.txt`, words, "text/plain"],
    [`${folder}/page.html`, `<script>window.wasRun=1</script>${words}`, "text/html"],
    [`${folder}/picture.svg`, `<svg xmlns="http://www.w3.org/2000/svg" onload="window.wasRun=1"/>`, "image/svg+xml"],
  ];
  for (const [path, content, type] of files) {
    const form = { path, file: new File([content], "any", { type }) };
    const put = await gantry.call("POST", `/v1/drives/${drive.id}/files`, { form });
    expect(put.status, put.text).toBe(201);
  }
  await make(gantry, "/api/v2/keys", { name });
  await make(gantry, "/api/v2/admin/users/admin/credits", { amount: 1, reason: words.slice(0, 500) });
  const inFolder = `drives/${drive.id}?path=${encodeURIComponent(folder)}`;
  await expectAllHarmless(page, ["drives", `drives/${drive.id}`, inFolder, "keys", "money", "admin/users/admin"]);
  for (const [path] of files) {
    await page.goto(`/console/${inFolder}&file=${encodeURIComponent(path)}`);
    await page.getByRole("dialog").locator("pre, img").waitFor();
    await expectHarmless(page, path);
  }

  await page.goto(`/console/drives/${drive.id}`);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expectHarmless(page, "a question before something is deleted");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await toast(page, `${name} is deleted`).waitFor();
  await expectHarmless(page, "a message", page.getByRole("status"));
});

test("an address that is a script is refused where one is asked for, and does nothing where it is one", async ({
  page,
}) => {
  for (const place of [`models/${encodeURIComponent(element)}/x`, `agents/${encodeURIComponent(address)}`]) {
    await page.goto(`/console/${place}`);
    await page.getByRole("alert").waitFor();
    expect(await page.evaluate("window.wasRun"), place).toBeUndefined();
  }
  await page.goto("/console/tool-servers");
  await page.getByRole("button", { name: "Add a server" }).click();
  const form = page.getByRole("dialog", { name: "Add a tool server" });
  await form.getByLabel("Name").fill("scripted");
  const field = form.getByLabel("Address");
  await field.fill(address);
  await form.getByRole("button", { name: "Add and connect" }).click();
  await soon(() => field.getAttribute("aria-invalid")).toBe("true");
  expect(await saidAt(field)).toMatch(/http/);
});
