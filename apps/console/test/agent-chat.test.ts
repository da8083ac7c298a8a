import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { inTurn, type LlmRequest, type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { loseAnswer, soon, toast } from "./support/on-page.ts";

let llm: ScriptedLlm;
beforeAll(async () => {
  llm = await startScriptedLlm();
});
afterAll(() => llm.close());

const conversation = (page: Page) => page.getByRole("region", { name: "Conversation" });
const chats = (page: Page) => page.getByRole("navigation", { name: "Chats" });
const question = { type: "object", required: ["question"], properties: { question: { type: "string" } } };

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  // While an answer is under way, the button stops it and Enter does nothing.
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await page.keyboard.press("Enter");
}

const said = ({ messages }: LlmRequest): string => JSON.stringify(messages);

test("a chat streams, remembers its turns, survives a reload and is deleted", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, {
    name: "Guide",
    goal: "Answer {{question}}.",
    input_schema: question,
    model: "admin/llm",
  });
  llm.script = () => ({ text: "A **gate** is a door.", hangs: true });
  await page.goto(`/console/agents/${agent}`);
  await page.getByRole("link", { name: "Chat", exact: true }).click();
  await page.getByText("Chat with Guide").waitFor();
  await page.getByLabel("Message").fill("What is");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("a gate?");
  expect(await page.getByLabel("Message").inputValue()).toBe("What is\na gate?");
  await page.keyboard.press("Enter");
  // The text is shown while the model still writes, and the address names the thread.
  await conversation(page).locator("strong", { hasText: "gate" }).waitFor();
  await page.waitForURL(/\/chat\/chat-\d/);
  await soon(() => page.getByLabel("Message").evaluate((box) => box === box.ownerDocument.activeElement)).toBe(true);
  llm.script = () => ({ text: "Stopped before this." });
  await page.getByRole("button", { name: "Stop" }).click();
  await conversation(page).getByText("Stopped.", { exact: true }).waitFor();

  llm.script = inTurn({ text: "A row of posts." });
  await send(page, "And a fence?");
  await conversation(page).getByText("A row of posts.").waitFor();
  await conversation(page)
    .getByText(/^Cost \$0\.00/)
    .nth(1)
    .waitFor();
  expect(said(llm.requests.at(-1) as LlmRequest)).toContain("What is");

  await page.reload();
  await conversation(page).getByText("A row of posts.").waitFor();
  await chats(page).getByText("What is").waitFor();
  await page.getByRole("link", { name: "New chat" }).click();
  await page.getByText("Chat with Guide").waitFor();
  await send(page, "Something else");
  await conversation(page).getByText("A row of posts.").waitFor();
  expect(said(llm.requests.at(-1) as LlmRequest)).not.toContain("What is");
  await soon(() => chats(page).getByRole("listitem").count()).toBe(2);

  await chats(page).getByRole("link", { name: "What is" }).click();
  await conversation(page).getByText("And a fence?").waitFor();
  await chats(page).getByRole("button", { name: "Delete What is" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await toast(page, "Chat deleted").waitFor();
  await page.getByText("Chat with Guide").waitFor();
  await soon(() => chats(page).getByRole("listitem").count()).toBe(1);
  expect((await gantry.call("GET", `/v1/threads?agent_id=${agent}`)).body.total).toBe(1);
}, 120_000);

test("tools are folded, confirmations are answered in the chat, and other inputs stay", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, {
    name: "Careful",
    goal: "Calculate {{message}} in {{unit}}.",
    input_schema: {
      type: "object",
      required: ["message", "unit"],
      properties: { message: { type: "string" }, unit: { type: "string", enum: ["euros", "dollars"] } },
    },
    tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
    model: "admin/llm",
  });
  llm.script = inTurn(
    { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] },
    { text: "It is 42." },
    { text: "Still 42." },
    { text: "42 dollars." },
  );
  await page.goto(`/console/agents/${agent}/chat`);
  // The message stays until the required field is chosen.
  await send(page, "6 * 7");
  await page.getByText("This field is required").waitFor();
  expect(await page.getByLabel("Message").inputValue()).toBe("6 * 7");
  await page.getByLabel("unit").selectOption("euros");
  await page.getByRole("button", { name: "Send" }).click();
  const confirmation = page.getByRole("region", { name: "Confirmation for run_javascript" });
  await confirmation.getByText("6 * 7").waitFor();
  await confirmation.getByRole("button", { name: "Approve" }).click();
  await conversation(page).getByText("It is 42.").waitFor();
  await conversation(page).getByText("1 tool call").click();
  await conversation(page).getByRole("link", { name: "run_javascript" }).waitFor();

  await send(page, "Again");
  await conversation(page).getByText("Still 42.").waitFor();
  // A lost answer loses neither the text nor the other inputs, and sending again starts no second run.
  await page.getByText("Other inputs").click();
  await page.getByLabel("unit").selectOption("dollars");
  await page.route("**/agents/*/runs", loseAnswer);
  await send(page, "Once more");
  await soon(() => page.getByLabel("Message").inputValue()).toBe("Once more");
  expect(await page.getByLabel("unit").inputValue()).toBe("dollars");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Send" }).click();
  await conversation(page).getByText("42 dollars.").waitFor();
  const { threads } = (await gantry.call("GET", `/v1/threads?agent_id=${agent}`)).body;
  const { turns } = (await gantry.call("GET", `/v1/threads/${threads[0].id}`)).body;
  expect(turns.map(({ input }: { input: object }) => input)).toEqual([
    { message: "6 * 7", unit: "euros" },
    { message: "Again", unit: "euros" },
    { message: "Once more", unit: "dollars" },
  ]);
  await conversation(page).getByRole("link", { name: "run_javascript" }).click();
  await page.waitForURL(/\/runs\/run_.*step=/);
  await page.getByRole("link", { name: "Open chat" }).click();
  await conversation(page).getByText("Still 42.").waitFor();
}, 120_000);

test("a message that is still on its way does not call its sender back", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, { name: "Far", input_schema: question, model: "admin/llm" });
  llm.script = inTurn({ text: "Arrived." });
  const held = Promise.withResolvers<void>();
  await page.route(`**/v1/agents/${agent}/runs`, async (route) => {
    const response = await route.fetch();
    await held.promise;
    await route.fulfill({ response });
  });
  await page.goto(`/console/agents/${agent}/chat`);
  const started = page.waitForResponse(`**/v1/agents/${agent}/runs`);
  await send(page, "Hello");
  await page.getByRole("link", { name: "Drives", exact: true }).click();
  await page.getByRole("heading", { name: "Drives", level: 1 }).waitFor();
  held.resolve();
  await (await started).finished();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("table", { name: "Runs" }).getByText("Far").first().waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/runs");
});

test("a failed answer says what to do, and an unknown chat can be left", async ({ gantry, pageOf, task }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const attempt = task.result?.retryCount ?? 0;
  const maker = `chat-maker-${attempt}`;
  const keys = { maker: await gantry.newUser(maker), buyer: await gantry.newUser(`chat-buyer-${attempt}`) };
  const agent = await putAgent(
    gantry,
    {
      name: "Public Guide",
      input_schema: question,
      model: "admin/llm",
      visibility: "public",
      pricing: { per_run: 0.2 },
    },
    keys.maker,
  );
  const page = await pageOf(keys.buyer);
  await page.goto(`/console/marketplace/${maker}/public-guide`);
  await page.getByRole("link", { name: "Chat", exact: true }).click();
  await page.getByText("$0.20 per answer").waitFor();
  llm.script = () => ({ status: 400 });
  await send(page, "Hello?");
  await conversation(page).getByText("The model call failed").waitFor();
  llm.script = () => ({ text: "Hello!" });
  await send(page, "Hello again?");
  await conversation(page).getByText("Hello!").waitFor();
  await conversation(page)
    .getByText(/^Cost \$0\.20/)
    .waitFor();

  // The price changes while the chat is open: nothing is charged, and the text stays.
  await gantry.call("PATCH", `/v1/agents/${agent}`, { key: keys.maker, json: { pricing: { per_run: 0.3 } } });
  await gantry.call("POST", `/v1/agents/${agent}/publish`, { key: keys.maker, json: {} });
  await send(page, "One more?");
  await page.getByText("The price of this agent is now $0.3, not $0.2.").waitFor();
  expect(await page.getByLabel("Message").inputValue()).toBe("One more?");
  await page.getByText("$0.30 per answer").waitFor();

  await page.goto(`/console/agents/${agent}/chat/no-such.chat:1`);
  await page.getByText("This chat does not exist").waitFor();
  await page.getByRole("main").getByRole("link", { name: "New chat" }).last().click();
  await page.getByText("Chat with Public Guide").waitFor();
}, 120_000);
