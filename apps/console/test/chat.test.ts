import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ChatServer, startChatServer } from "../../server/test/support/chat-server.ts";
import { test } from "./support/console-test.ts";
import { putModel, textModel } from "./support/fixtures.ts";
import { soon, toast } from "./support/on-page.ts";

let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.close());

const usage = { prompt_tokens: 12, completion_tokens: 30 };
const conversation = (page: Page) => page.getByRole("region", { name: "Conversation" });

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Message").fill(question);
  await page.keyboard.press("Enter");
  await soon(() => chat.open).toBe(1);
}

test("a conversation has several turns, a system prompt, figures, and survives a reload", async ({ gantry, page }) => {
  await putModel(gantry, "talker", textModel(chat.url));
  await page.goto("/console/models/admin/talker");
  await page.getByLabel("System prompt").fill("Be brief.");
  await ask(page, "What is a gate?");
  chat.say("A **door**", " in a fence.");
  await conversation(page).locator("strong", { hasText: "door" }).waitFor();
  await page.waitForTimeout(300);
  chat.end(usage);
  await conversation(page).getByText("30 output tokens").waitFor();
  await conversation(page)
    .getByText(/^First token /)
    .waitFor();
  await conversation(page)
    .getByText(/^Cost \$0\.000/)
    .waitFor();

  await page.reload();
  await conversation(page).locator("strong", { hasText: "door" }).waitFor();
  expect(await page.getByLabel("System prompt").inputValue()).toBe("Be brief.");
  await ask(page, "And a fence?");
  expect(chat.requests.at(-1)).toMatchObject({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is a gate?" },
      { role: "assistant", content: "A **door** in a fence." },
      { role: "user", content: "And a fence?" },
    ],
  });
  chat.say("A row of posts.");
  await page.getByText("A row of posts.").first().waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await soon(() => chat.open).toBe(0);
  await conversation(page).getByText("Stopped").waitFor();

  await page.getByRole("button", { name: "Regenerate" }).click();
  await soon(() => chat.open).toBe(1);
  chat.say("Posts with rails.");
  chat.end(usage);
  await conversation(page).getByText("Posts with rails.").waitFor();
  expect(await conversation(page).getByText("A row of posts.").count()).toBe(0);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("Chat with A language model").waitFor();
});

test("saving the manifest of a model leaves its open chat alone", async ({ gantry, page }) => {
  await putModel(gantry, "patient", textModel(chat.url));
  await page.goto("/console/models/admin/patient");
  await ask(page, "What is a gate?");
  chat.say("A door");
  await conversation(page).getByText("A door").waitFor();
  await page.getByRole("tab", { name: "Manifest" }).click();
  const editor = page.getByLabel("Manifest (JSON)");
  await editor.fill((await editor.inputValue()).replace("A language model", "A patient model"));
  await page.getByRole("button", { name: "Save" }).click();
  await toast(page, "Model saved").waitFor();
  await page.getByRole("heading", { name: "A patient model" }).waitFor();
  await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
  expect(await editor.inputValue()).toContain("A patient model");
  await page.getByRole("tab", { name: "Playground" }).click();
  chat.say(" in a fence.");
  chat.end(usage);
  await conversation(page).getByText("A door in a fence.").waitFor();
});

test("long answers are followed to their end, unless the reader scrolls up", async ({ gantry, page }) => {
  await putModel(gantry, "writer", textModel(chat.url));
  await page.goto("/console/models/admin/writer");
  await ask(page, "Write.");
  const lines = (from: number) => Array.from({ length: 60 }, (_, n) => `Line ${from + n}\n\n`).join("");
  const position = () =>
    conversation(page).evaluate((box: { scrollTop: number; scrollHeight: number; clientHeight: number }) => ({
      below: box.scrollHeight - box.scrollTop - box.clientHeight,
      top: box.scrollTop,
    }));
  chat.say(lines(1));
  await conversation(page).getByText("Line 60", { exact: true }).waitFor();
  await soon(async () => (await position()).below).toBeLessThan(40);
  expect((await position()).top).toBeGreaterThan(100);

  await conversation(page).hover();
  await page.mouse.wheel(0, -600);
  await page.getByRole("button", { name: "Jump to latest" }).waitFor();
  chat.say(lines(100));
  await conversation(page).getByText("Line 159", { exact: true }).waitFor({ state: "attached" });
  expect((await position()).below).toBeGreaterThan(600);
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await soon(async () => (await position()).below).toBeLessThan(40);
  chat.end(usage);
});

test("200 kB of streamed Markdown do not freeze the page", async ({ gantry, page }) => {
  await putModel(gantry, "flood", textModel(chat.url));
  await page.goto("/console/models/admin/flood");
  await ask(page, "Write a lot.");
  // Runs in the page: the longest time without a turn of the event loop.
  await page.evaluate(`(() => {
    let last = performance.now();
    window.longestPause = 0;
    setInterval(() => {
      const now = performance.now();
      window.longestPause = Math.max(window.longestPause, now - last);
      last = now;
    }, 20);
  })()`);
  const section =
    "## Part\n\nSome **bold** text, `code` and a [link](https://example.org).\n\n- one\n- two\n\n```js\nf(1);\n```\n\n";
  for (let sent = 0; sent < 200_000; sent += 20 * section.length) {
    chat.say(section.repeat(20));
    await page.waitForTimeout(20);
  }
  chat.say("The very end.");
  await conversation(page).getByText("The very end.").waitFor({ state: "attached", timeout: 40_000 });
  chat.end(usage);
  expect(await page.evaluate("window.longestPause")).toBeLessThan(10_000);
});

test("Markdown of a model cannot run, load or imitate anything", async ({ gantry, page }) => {
  await putModel(gantry, "hostile-writer", textModel(chat.url));
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto("/console/models/admin/hostile-writer");
  await ask(page, "Attack.");
  chat.say(
    "<img src=https://evil.example/a onerror=window.wasRun=1>\n\n<script>window.wasRun=1</script>\n\n",
    "![pixel](https://evil.example/pixel.png) [click](javascript:window.wasRun=1) [ok](https://example.org)\n\n",
    '<style>main{display:none}</style><form action="https://evil.example"><input></form>\n\n',
    "```html\n<script>window.wasRun=1</script>\n```\n\n",
    `${"*".repeat(30_000)}\n\n${">".repeat(5_000)}\n\nThe end of it.`,
  );
  chat.end(usage);
  await conversation(page).getByText("The end of it.").waitFor({ state: "attached" });
  // The formatted text, which replaces the plain one once its code is loaded.
  await conversation(page).getByText("Image: pixel").waitFor();
  const found = await conversation(page).evaluate((box: unknown) => {
    const root = box as { querySelectorAll(selector: string): Iterable<{ getAttribute(name: string): string | null }> };
    return {
      elements: [...root.querySelectorAll("img, script, style, form, iframe, [style], [id]")].length,
      links: [...new Set([...root.querySelectorAll("a[href^='http']")].map((link) => link.getAttribute("rel")))],
      scripts: [...root.querySelectorAll("a[href^='javascript']")].length,
    };
  });
  expect(found).toEqual({
    elements: 0,
    links: ["noopener noreferrer nofollow"],
    scripts: 0,
  });
  expect(await page.evaluate("window.wasRun")).toBeUndefined();
  expect(loaded.filter((url) => url.includes("evil.example"))).toEqual([]);
});
