import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { signInBrowser, test } from "./support/console-test.ts";
import { soon, toast } from "./support/on-page.ts";

const linkOf = async (gantry: GantryNode, key: string): Promise<string> =>
  (await gantry.call("POST", "/api/v2/sign-in-links", { key, json: {} })).body.url;

const shownUser = (page: Page) => page.getByRole("complementary").getByTitle(/^[a-z0-9-]+$/);
const pathOf = (page: Page): string => new URL(page.url()).pathname;
const question = (username: string) => `You're signed in as ${username}. Use this link to switch account?`;

/** Changes the session of a browser without notifying its pages. */
async function sessionOf(page: Page, key: string): Promise<void> {
  await signInBrowser(page.context(), new URL(page.url()).origin, key);
}

test("a sign-in link asks before it switches the account", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("asked"));
  const mallory = await gantry.newUser("mallory");
  const link = await linkOf(gantry, mallory);
  await page.goto(link);
  await page.getByText(question("asked")).waitFor();
  expect(page.url()).not.toContain("#");
  await page.getByRole("button", { name: "Stay signed in as asked" }).click();
  await soon(() => shownUser(page).innerText()).toBe("asked");

  // The link is still unused.
  await page.goto(link);
  await page.getByRole("button", { name: "Switch account" }).click();
  await soon(() => shownUser(page).innerText()).toBe("mallory");
});

test("tabs follow a sign-in or sign-out in another tab", async ({ gantry, pageOf }) => {
  const bob = await gantry.newUser("bob");
  const first = await pageOf(bob);
  const second = await first.context().newPage();
  await first.goto("/console/keys");
  await soon(() => shownUser(first).innerText()).toBe("bob");
  await second.goto(await linkOf(gantry, await gantry.newUser("eve")));
  await second.getByRole("button", { name: "Switch account" }).click();
  await toast(first, "You're now signed in as eve").waitFor();
  await soon(() => shownUser(first).innerText()).toBe("eve");
  expect(pathOf(first)).toBe("/console/keys");

  await second.getByRole("button", { name: "Sign out" }).click();
  for (const page of [first, second]) await page.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  await second.getByLabel("API key").fill(bob);
  await second.getByRole("button", { name: "Sign in" }).click();
  await soon(() => shownUser(second).innerText()).toBe("bob");
  // The first tab keeps its page.
  await soon(() => shownUser(first).innerText()).toBe("bob");
  expect(pathOf(first)).toBe("/console/keys");

  // The sign-out forgot the chats before it, not those after it.
  await second.getByRole("link", { name: "Models", exact: true }).click();
  await second.getByRole("list", { name: "Models" }).getByRole("link", { name: "Gantry Rules" }).click();
  await second.getByLabel("Message").fill("What is 12 * 34?");
  await second.keyboard.press("Enter");
  const conversation = second.getByRole("region", { name: "Conversation" });
  await conversation.getByText("408").first().waitFor();
  await second.getByRole("link", { name: "API keys" }).click();
  await second.getByRole("table", { name: "API keys" }).waitFor();
  await second.reload();
  await second.goBack();
  await conversation.getByText("408").first().waitFor();
});

test("a tab that stayed with unsaved changes asks again at the next sign-out", async ({ gantry, pageOf }) => {
  const nora = await gantry.newUser("nora");
  const first = await pageOf(nora);
  await first.goto("/console/agents/new");
  await first.getByLabel("Name").first().fill("Unsaved");
  const second = await first.context().newPage();
  await second.goto("/console/keys");
  const [stayed] = await Promise.all([
    first.waitForEvent("dialog"),
    second.getByRole("button", { name: "Sign out" }).click(),
  ]);
  await stayed.dismiss();
  await second.getByLabel("API key").fill(nora);
  await second.getByRole("button", { name: "Sign in" }).click();
  await shownUser(second).waitFor();
  expect(await first.getByLabel("Name").first().inputValue()).toBe("Unsaved");
  const [left] = await Promise.all([
    first.waitForEvent("dialog"),
    second.getByRole("button", { name: "Sign out" }).click(),
  ]);
  await left.accept();
  await first.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
});

test("an action is refused after another user has signed in", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("carol"));
  const dave = await gantry.newUser("dave");
  await page.goto("/console/secrets");
  await page.getByRole("button", { name: "New secret" }).click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill("of-carol");
  await form.getByLabel("Value").fill("very secret");
  await sessionOf(page, dave);
  await form.getByRole("button", { name: "Save secret" }).click();
  await toast(page, "You're now signed in as dave").waitFor();
  await soon(() => shownUser(page).innerText()).toBe("dave");
  expect((await gantry.call("GET", "/api/v2/secrets", { key: dave })).body.results).toEqual([]);
});

test("every sign-in link pasted into the address bar is tried", async ({ gantry, visitor }) => {
  await visitor.goto("/console/sign-in");
  await visitor.getByLabel("API key").waitFor();
  await visitor.goto("/console/sign-in#no-such-token");
  await visitor.getByRole("alert").getByText("This sign-in link was used or has expired").waitFor();
  expect(visitor.url()).not.toContain("#");
  await visitor.goto(await linkOf(gantry, await gantry.newUser("paster")));
  await soon(() => shownUser(visitor).innerText()).toBe("paster");
  expect(visitor.url()).not.toContain("#");
});

test("the sign-in page redirects signed-in users", async ({ page }) => {
  await page.goto("/console/sign-in?from=%2Fkeys");
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await page.goto("/console/sign-in");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});

test("signing in again with a key keeps unsaved input", async ({ gantry, pageOf }) => {
  const frank = await gantry.newUser("frank");
  const page = await pageOf(frank);
  await page.goto("/console/agents/new");
  await page.getByLabel("Name").first().fill("Written for an hour");
  await page.getByLabel("Goal (required)").fill("Be long.");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "Gantry" }).hover();
  await page.getByRole("button", { name: "Create agent" }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("API key").fill("gk_000000000000_wrong");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByRole("alert").waitFor();

  // A dismissed dialog leaves a banner.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Sign in again" }).click();
  await dialog.getByLabel("API key").fill(frank);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByLabel("Name").first().inputValue()).toBe("Written for an hour");
  expect(pathOf(page)).toBe("/console/agents/new");
});

test("a sign-in link in another tab resumes an ended session", async ({ gantry, pageOf }) => {
  const grace = await gantry.newUser("grace");
  const page = await pageOf(grace);
  await page.goto("/console/secrets");
  await page.getByText("No secrets yet").waitFor();
  await soon(() => shownUser(page).innerText()).toBe("grace");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "API keys" }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  const other = await page.context().newPage();
  await other.goto(await linkOf(gantry, grace));
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("table", { name: "API keys" }).waitFor();
});

test("another user who signs in after a session has ended sees no data of the first", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("henry"));
  await page.goto("/console/secrets");
  await page.getByText("No secrets yet").waitFor();
  await soon(() => shownUser(page).innerText()).toBe("henry");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "API keys" }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("API key").fill(await gantry.newUser("iris"));
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await toast(page, "You're now signed in as iris").waitFor();
  await soon(() => shownUser(page).innerText()).toBe("iris");
});

test("a limited key shows its limits and hides pages that it cannot open", async ({ gantry, pageOf }) => {
  await gantry.newUser("jane");
  const keyOf = async (body: object): Promise<string> =>
    (await gantry.call("POST", "/api/v2/admin/users/jane/keys", { json: body })).body.key;
  const entriesOf = async (page: Page) =>
    (await page.getByRole("navigation", { name: "Main" }).innerText()).split("\n");

  const confined = await pageOf(await keyOf({ name: "ci", models: ["gantry/text"] }));
  await confined.goto("/console/");
  for (const text of ["Key: ci", "Only gantry/text"]) await confined.getByText(text, { exact: true }).waitFor();
  const closed = ["Tool servers", "Drives", "Identity tenant", "Secrets"];
  expect((await entriesOf(confined)).filter((entry) => closed.includes(entry.trim()))).toEqual([]);
  expect(await entriesOf(confined)).toEqual(expect.arrayContaining(["Models", "Runs", "API keys"]));

  const limited = await pageOf(await keyOf({ name: "cheap", monthly_limit: 0.02 }));
  await limited.goto("/console/");
  await limited.getByText("$0.02 per month", { exact: true }).waitFor();
  for (const title of ["Overview", "Money"]) {
    await limited.getByRole("link", { name: title }).click();
    await limited.getByRole("heading", { name: title }).waitFor();
    await limited.getByText('Key "cheap" has a limit').waitFor();
  }
  expect(await entriesOf(limited)).toEqual(expect.arrayContaining(["Files", "Drives"]));
  expect(await entriesOf(limited)).not.toContain("Secrets");
});
