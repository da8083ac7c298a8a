import { expect } from "vitest";
import { sessionCookie, test } from "./support/console-test.ts";
import { rowOf, saidAt, soon, toast } from "./support/on-page.ts";

test("a key is made, shown once, works, and works no longer once it is revoked", async ({ gantry, page }) => {
  await page.goto("/console/keys");
  await page.getByRole("button", { name: "New key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Name").fill("For a machine");
  await form.getByRole("button", { name: "Make the key" }).click();
  const told = page.getByRole("dialog", { name: "Your new API key" });
  const key = await told.getByRole("code").innerText();
  expect(key).toMatch(/^gk_/);
  await told.getByRole("button", { name: "I have copied it" }).click();
  await told.waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(key);
  const use = async () => (await gantry.call("GET", "/api/v2/me", { key })).status;
  expect(await use()).toBe(200);

  await rowOf(page, "API keys", "For a machine").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await toast(page, /is revoked$/).waitFor();
  await soon(() => rowOf(page, "API keys", "For a machine").count()).toBe(0);
  expect(await use()).toBe(401);
});

test("who rotates the key that they are signed in with sees the new one before they are signed out", async ({
  gantry,
  pageOf,
}) => {
  const page = await pageOf(await gantry.newUser("rotator"));
  await page.goto("/console/keys");
  await page.getByRole("button", { name: /^Rotate/ }).click();
  const form = page.getByRole("dialog", { name: /^Rotate/ });
  await form.getByLabel("How long the old key still works").selectOption("It stops at once");
  const warning = await saidAt(form.getByLabel("How long the old key still works"));
  await form.getByRole("button", { name: "Rotate" }).click();
  const told = page.getByRole("dialog", { name: /^The new key of/ });
  const key = await told.getByRole("code").innerText();

  // Neither a slip nor what the page asks when its window is looked at again takes it away.
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await page.waitForTimeout(1_000);
  expect(await told.getByRole("code").innerText()).toBe(key);
  expect(await told.getByRole("button", { name: "Close" }).count()).toBe(0);
  expect(warning).toContain("whoever is signed in with it is signed out");
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(200);

  await told.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
});

test("why a key is not rotated is told in the form", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("refused"));
  const error = { type: "conflict", message: "A session is not rotated: sign out instead" };
  await page.route("**/rotate", (route) => route.fulfill({ status: 409, json: { error } }));
  await page.goto("/console/keys");
  await page.getByRole("button", { name: /^Rotate/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("alert").getByText(error.message).waitFor();
});

test("an address beyond the last page leads to the last page, and the way back leads on", async ({
  gantry,
  pageOf,
}) => {
  const key = await gantry.newUser("collector");
  for (let n = 1; n <= 20; n++) await gantry.call("POST", "/api/v2/keys", { key, json: { name: `Key ${n}` } });
  const page = await pageOf(key);
  await page.goto("/console/files");
  await page.getByText("There are no files yet").waitFor();
  await page.goto("/console/keys?page=16");
  await page.getByText("Page 2 of 2, 21 in all").waitFor();
  await soon(() => page.getByRole("table", { name: "API keys" }).getByRole("row").count()).toBe(2);
  expect(new URL(page.url()).search).toBe("?page=2");
  await page.goBack();
  await page.getByText("There are no files yet").waitFor();
});

test("a secret is stored, and its value is nowhere in a page or an answer", async ({ gantry, page }) => {
  const value = "sk-very-secret-0123456789";
  const answers: Promise<string>[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/secrets")) answers.push(response.text().catch(() => ""));
  });
  await page.goto("/console/secrets");
  await page.getByRole("button", { name: "New secret" }).click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill("provider");
  await form.getByLabel("Value").fill(value);
  expect(await form.getByLabel("Value").getAttribute("type")).toBe("password");
  await form.getByRole("button", { name: "Store it" }).click();
  await toast(page, "provider is stored").waitFor();
  await rowOf(page, "Secrets", "provider").waitFor();
  expect(await page.content()).not.toContain(value);
  await page.reload();
  await rowOf(page, "Secrets", "provider").waitFor();
  expect(await page.content()).not.toContain(value);
  expect(answers.length).toBeGreaterThan(1);
  expect((await Promise.all(answers)).join()).not.toContain(value);
  expect((await gantry.call("GET", "/api/v2/secrets")).body.results).toMatchObject([{ name: "provider" }]);
});

test("a link signs in once; who signs out is asked to sign in, and the session is over", async ({
  gantry,
  visit,
  visitor,
}) => {
  const { url } = (await gantry.call("POST", "/api/v2/sign-in-links", { json: {} })).body;
  await visitor.goto(url);
  await visitor.getByRole("navigation", { name: "Places" }).waitFor();
  expect(visitor.url()).not.toContain("#");
  const cookies = await visit.context.cookies();
  const session = cookies.find(({ name }) => name === sessionCookie);
  expect(session).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  const headers = { cookie: `${sessionCookie}=${session?.value}`, "x-gantry-console": "1" };
  const use = async () => (await gantry.call("GET", "/api/v2/me", { key: "", headers })).status;
  expect(await use()).toBe(200);

  await visitor.getByRole("button", { name: "Sign out" }).click();
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  expect(await use()).toBe(401);
  expect((await visit.context.cookies()).filter(({ name }) => name === sessionCookie)).toEqual([]);
  // Not by the way back either.
  await visitor.goBack();
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();

  await visitor.goto("about:blank");
  await visitor.goto(url);
  await visitor.getByRole("alert").waitFor();
  expect(new URL(visitor.url()).pathname).toBe("/console/sign-in");
});

test("the way in leads to where one wanted to go, and a session that ends there goes on there", async ({
  gantry,
  visitor,
}) => {
  const key = await gantry.newUser("worker");
  await visitor.goto("/console/models?kind=image");
  await visitor.getByLabel("API key").fill(key);
  await visitor.getByRole("button", { name: "Sign in" }).click();
  // Where somebody wanted to go is remembered over the way in.
  await visitor.getByRole("link", { name: "Gantry Image" }).waitFor();
  expect(new URL(visitor.url()).search).toBe("?kind=image");

  const { body } = await gantry.call("GET", "/api/v2/keys", { key });
  await gantry.call("DELETE", `/api/v2/keys/${body.results[0].id}`, { key });
  await visitor.getByLabel("Kind").selectOption("text");
  await visitor.getByRole("dialog", { name: "Your session has ended" }).waitFor();
  const made = await gantry.call("POST", "/api/v2/admin/users/worker/keys", { json: {} });
  await visitor.getByLabel("API key").fill(made.body.key);
  await visitor.getByRole("button", { name: "Sign in" }).click();
  await visitor.getByRole("link", { name: "Gantry Rules" }).waitFor();
  const { pathname, search } = new URL(visitor.url());
  expect(pathname + search).toBe("/console/models?kind=text");
});

test("the way in leads to no other site", async ({ gantry, visit, visitor }) => {
  for (const from of ["https://evil.example/", "/\\evil.example"]) {
    await visitor.goto(`/console/sign-in?from=${encodeURIComponent(from)}`);
    await visitor.getByLabel("API key").fill(gantry.adminKey);
    await visitor.getByRole("button", { name: "Sign in" }).click();
    await visitor.getByRole("heading", { name: "Overview" }).waitFor();
    expect(new URL(visitor.url()).pathname, from).toBe("/console/");
    await visit.context.clearCookies();
  }
});

test("what an address says that cannot be is not asked of the service", async ({ page }) => {
  await page.goto("/console/models?kind=poem&page=zero");
  await page.getByRole("link", { name: "Gantry Image" }).waitFor();
  expect(new URL(page.url()).search).toBe("");
});
