import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { signInBrowser, test } from "./support/console-test.ts";
import { soon, toast } from "./support/on-page.ts";

const linkOf = async (gantry: GantryNode, key: string): Promise<string> =>
  (await gantry.call("POST", "/api/v2/sign-in-links", { key, json: {} })).body.url;

const shownUser = (page: Page) => page.getByRole("complementary").getByTitle(/^[a-z0-9-]+$/);
const pathOf = (page: Page): string => new URL(page.url()).pathname;
const question = (username: string) => `You are signed in as ${username}. Sign in by this link as another?`;

/** Puts the pages of a browser into the session of a key, without a word to them. */
async function sessionOf(page: Page, key: string): Promise<void> {
  await signInBrowser(page.context(), new URL(page.url()).origin, key);
}

test("a link takes nobody into another account unasked", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("asked"));
  const mallory = await gantry.newUser("mallory");
  const link = await linkOf(gantry, mallory);
  await page.goto(link);
  await page.getByText(question("asked")).waitFor();
  expect(page.url()).not.toContain("#");
  await page.getByRole("button", { name: "Stay as asked" }).click();
  await soon(() => shownUser(page).innerText()).toBe("asked");

  // It was not spent.
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await soon(() => shownUser(page).innerText()).toBe("mallory");
});

test("tabs follow whoever signs in or out in another", async ({ gantry, pageOf }) => {
  const bob = await gantry.newUser("bob");
  const first = await pageOf(bob);
  const second = await first.context().newPage();
  await first.goto("/console/keys");
  await soon(() => shownUser(first).innerText()).toBe("bob");
  await second.goto(await linkOf(gantry, await gantry.newUser("eve")));
  await second.getByRole("button", { name: "Continue" }).click();
  await toast(first, "You are signed in as eve now").waitFor();
  await soon(() => shownUser(first).innerText()).toBe("eve");
  expect(pathOf(first)).toBe("/console/keys");

  await second.getByRole("button", { name: "Sign out" }).click();
  for (const page of [first, second]) await page.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  await second.getByLabel("API key").fill(bob);
  await second.getByRole("button", { name: "Sign in" }).click();
  await soon(() => shownUser(second).innerText()).toBe("bob");
  // Where it was before.
  await soon(() => shownUser(first).innerText()).toBe("bob");
  expect(pathOf(first)).toBe("/console/keys");
});

test("nothing is done in the name of whoever has signed in since", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("carol"));
  const dave = await gantry.newUser("dave");
  await page.goto("/console/secrets");
  await page.getByRole("button", { name: "New secret" }).click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill("of-carol");
  await form.getByLabel("Value").fill("very secret");
  await sessionOf(page, dave);
  await form.getByRole("button", { name: "Store it" }).click();
  await toast(page, "You are signed in as dave now").waitFor();
  await soon(() => shownUser(page).innerText()).toBe("dave");
  expect((await gantry.call("GET", "/api/v2/secrets", { key: dave })).body.results).toEqual([]);
});

test("a link that is pasted into the page's address is tried, and each one anew", async ({ gantry, visitor }) => {
  await visitor.goto("/console/sign-in");
  await visitor.getByLabel("API key").waitFor();
  await visitor.goto("/console/sign-in#no-such-token");
  await visitor.getByRole("alert").getByText("This sign-in link was used or has expired").waitFor();
  expect(visitor.url()).not.toContain("#");
  await visitor.goto(await linkOf(gantry, await gantry.newUser("paster")));
  await soon(() => shownUser(visitor).innerText()).toBe("paster");
  expect(visitor.url()).not.toContain("#");
});

test("whoever is signed in has no use for the sign-in page", async ({ page }) => {
  await page.goto("/console/sign-in?from=%2Fkeys");
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await page.goto("/console/sign-in");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});

test("what was written is there after the session had ended, by a key", async ({ gantry, pageOf }) => {
  const frank = await gantry.newUser("frank");
  const page = await pageOf(frank);
  await page.goto("/console/agents/new");
  await page.getByLabel("Name").first().fill("Written for an hour");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "Gantry" }).hover();
  await page.getByRole("button", { name: /^(Create|Make)/ }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("API key").fill("gk_000000000000_wrong");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByRole("alert").waitFor();

  // Put off, it stays said.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Sign in again" }).click();
  await dialog.getByLabel("API key").fill(frank);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByLabel("Name").first().inputValue()).toBe("Written for an hour");
  expect(pathOf(page)).toBe("/console/agents/new");
});

test("a link in another tab goes on with an ended session, and what could not be read is", async ({
  gantry,
  pageOf,
}) => {
  const grace = await gantry.newUser("grace");
  const page = await pageOf(grace);
  await page.goto("/console/");
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

test("another who signs in where a session has ended finds nothing of the one before", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("henry"));
  await page.goto("/console/");
  await soon(() => shownUser(page).innerText()).toBe("henry");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "API keys" }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("API key").fill(await gantry.newUser("iris"));
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await toast(page, "You are signed in as iris now").waitFor();
  await soon(() => shownUser(page).innerText()).toBe("iris");
});

test("a key that is limited says so, and is not shown what it cannot open", async ({ gantry, pageOf }) => {
  await gantry.newUser("jane");
  const keyOf = async (body: object): Promise<string> =>
    (await gantry.call("POST", "/api/v2/admin/users/jane/keys", { json: body })).body.key;
  const places = async (page: Page) => (await page.getByRole("navigation", { name: "Places" }).innerText()).split("\n");

  const confined = await pageOf(await keyOf({ name: "ci", models: ["gantry/text"] }));
  await confined.goto("/console/");
  for (const words of ["key ci", "only gantry/text"]) await confined.getByText(words, { exact: true }).waitFor();
  const closed = ["Tool servers", "Drives", "Identity tenant", "Secrets"];
  expect((await places(confined)).filter((one) => closed.includes(one.trim()))).toEqual([]);
  expect(await places(confined)).toEqual(expect.arrayContaining(["Models", "Runs", "API keys"]));

  const limited = await pageOf(await keyOf({ name: "cheap", monthly_limit: 0.02 }));
  await limited.goto("/console/");
  await limited.getByText("at most $0.02 a month", { exact: true }).waitFor();
  for (const place of ["Overview", "Money"]) {
    await limited.getByRole("link", { name: place }).click();
    await limited.getByRole("heading", { name: place }).waitFor();
    await limited.getByText("The key cheap has a monthly limit of its own").waitFor();
  }
  expect(await places(limited)).toEqual(expect.arrayContaining(["Files", "Drives"]));
  expect(await places(limited)).not.toContain("Secrets");
});
