import { expect } from "vitest";
import { sessionCookie, test } from "./support/console-test.ts";
import { descriptionOf, rowOf, soon, toast } from "./support/on-page.ts";

test("a key is shown once, works, and stops working when revoked", async ({ gantry, page }) => {
  await page.goto("/console/keys");
  await page.getByRole("button", { name: "New key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Name").fill("For a machine");
  await form.getByRole("button", { name: "Create key" }).click();
  const shown = page.getByRole("dialog", { name: "Your new API key" });
  const key = await shown.getByRole("code").innerText();
  expect(key).toMatch(/^gk_/);
  await shown.getByRole("button", { name: "I've copied it" }).click();
  await shown.waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(key);
  const use = async () => (await gantry.call("GET", "/api/v2/me", { key })).status;
  expect(await use()).toBe(200);

  await rowOf(page, "API keys", "For a machine").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await toast(page, /revoked$/).waitFor();
  await soon(() => rowOf(page, "API keys", "For a machine").count()).toBe(0);
  expect(await use()).toBe(401);
});

test("limits of a key are set, shown and changed", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("thrifty");
  const page = await pageOf(key);
  await page.goto("/console/keys");
  await page.getByRole("button", { name: "New key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Name").fill("capped");
  await form.getByLabel("Daily limit ($)").fill("2");
  await form.getByLabel("Tokens per minute").fill("none");
  await form.getByRole("button", { name: "Create key" }).click();
  await form.getByText("Must be a whole number, 1 or more").waitFor();

  // What is entered while the name of a model is checked is kept.
  const checked = Promise.withResolvers<void>();
  await page.route(/[?&]q=gantry(%2F|\/)text/, async (route) => {
    await checked.promise;
    await route.continue();
  });
  await form.getByLabel("Access").selectOption("Only certain models");
  await form.getByPlaceholder("owner/model").fill("gantry/text");
  await form.getByPlaceholder("owner/model").press("Enter");
  await form.getByLabel("Tokens per minute").fill("20000");
  checked.resolve();
  await form.getByRole("button", { name: "Remove gantry/text" }).waitFor();
  expect(await form.getByLabel("Tokens per minute").inputValue()).toBe("20000");
  await form.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I've copied it" }).click();
  const row = rowOf(page, "API keys", "capped");
  await row.getByText("$0.00 of $2.00 today").waitFor();
  await row.getByText("20,000 tokens per minute").waitFor();

  await row.getByRole("button", { name: /^Edit/ }).click();
  const edit = page.getByRole("dialog", { name: /^Edit key/ });
  await edit.getByLabel("Daily limit ($)").fill("");
  await edit.getByLabel("Monthly limit ($)").fill("5");
  await edit.getByRole("button", { name: "Save" }).click();
  await row.getByText("$0.00 of $5.00 this month").waitFor();
  const { results } = (await gantry.call("GET", "/api/v2/keys", { key })).body;
  expect(results.find(({ name }: { name: string }) => name === "capped")).toMatchObject({
    ...{ monthly_limit: 5, daily_limit: null, tokens_per_minute: 20_000 },
  });
});

test("rotating the key of the session shows the new key before the session ends", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("rotator"));
  await page.goto("/console/keys");
  await page.getByRole("button", { name: /^Rotate/ }).click();
  const form = page.getByRole("dialog", { name: /^Rotate/ });
  const grace = form.getByLabel("Old key keeps working for");
  await grace.selectOption("Stops immediately");
  const warning = await descriptionOf(grace);
  await form.getByRole("button", { name: "Rotate" }).click();
  const shown = page.getByRole("dialog", { name: /^New key/ });
  const key = await shown.getByRole("code").innerText();

  // Neither Escape, a click outside nor a background refetch closes the dialog.
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await page.waitForTimeout(1_000);
  expect(await shown.getByRole("code").innerText()).toBe(key);
  expect(await shown.getByRole("button", { name: "Close" }).count()).toBe(0);
  expect(warning).toContain("sessions signed in with it end");
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(200);

  await shown.getByRole("button", { name: "I've copied it" }).click();
  await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
});

test("a refused rotation shows its reason in the form", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("refused"));
  const error = { type: "conflict", message: "Sessions cannot be rotated. Sign out instead." };
  await page.route("**/rotate", (route) => route.fulfill({ status: 409, json: { error } }));
  await page.goto("/console/keys");
  await page.getByRole("button", { name: /^Rotate/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("alert").getByText(error.message).waitFor();
});

test("a page number beyond the end leads to the last page, and Back leaves the list", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("collector");
  for (let n = 1; n <= 20; n++) await gantry.call("POST", "/api/v2/keys", { key, json: { name: `Key ${n}` } });
  const page = await pageOf(key);
  await page.goto("/console/files");
  await page.getByText("No files yet").waitFor();
  await page.goto("/console/keys?page=16");
  await page.getByText("Page 2 of 2, 21 in total").waitFor();
  await soon(() => page.getByRole("table", { name: "API keys" }).getByRole("row").count()).toBe(2);
  expect(new URL(page.url()).search).toBe("?page=2");
  await page.goBack();
  await page.getByText("No files yet").waitFor();
});

test("the value of a secret appears in no page and no response", async ({ gantry, page }) => {
  const value = "sk-very-secret-0123456789";
  const responses: Promise<string>[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/secrets")) responses.push(response.text().catch(() => ""));
  });
  await page.goto("/console/secrets");
  await page.getByRole("button", { name: "New secret" }).click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill("provider");
  await form.getByLabel("Value").fill(value);
  expect(await form.getByLabel("Value").getAttribute("type")).toBe("password");
  await form.getByRole("button", { name: "Save secret" }).click();
  await toast(page, "Secret provider saved").waitFor();
  await rowOf(page, "Secrets", "provider").waitFor();
  expect(await page.content()).not.toContain(value);
  await page.reload();
  await rowOf(page, "Secrets", "provider").waitFor();
  expect(await page.content()).not.toContain(value);
  expect(responses.length).toBeGreaterThan(1);
  expect((await Promise.all(responses)).join()).not.toContain(value);
  expect((await gantry.call("GET", "/api/v2/secrets")).body.results).toMatchObject([{ name: "provider" }]);
});

test("a sign-in link works once, and signing out ends the session", async ({ gantry, visit, visitor }) => {
  const { url } = (await gantry.call("POST", "/api/v2/sign-in-links", { json: {} })).body;
  await visitor.goto(url);
  await visitor.getByRole("navigation", { name: "Main" }).waitFor();
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
  // Back does not restore the session.
  await visitor.goBack();
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();

  await visitor.goto("about:blank");
  await visitor.goto(url);
  await visitor.getByRole("alert").waitFor();
  expect(new URL(visitor.url()).pathname).toBe("/console/sign-in");
});

test("signing in returns to the requested page, also after a session has ended", async ({ gantry, visitor }) => {
  const key = await gantry.newUser("worker");
  await visitor.goto("/console/models?kind=image");
  await visitor.getByLabel("API key").fill(key);
  await visitor.getByRole("button", { name: "Sign in" }).click();
  await visitor.getByRole("link", { name: "Gantry Image" }).waitFor();
  expect(new URL(visitor.url()).search).toBe("?kind=image");

  const { body } = await gantry.call("GET", "/api/v2/keys", { key });
  await gantry.call("DELETE", `/api/v2/keys/${body.results[0].id}`, { key });
  await visitor.getByLabel("Type").selectOption("text");
  await visitor.getByRole("dialog", { name: "Your session has ended" }).waitFor();
  const created = await gantry.call("POST", "/api/v2/admin/users/worker/keys", { json: {} });
  await visitor.getByLabel("API key").fill(created.body.key);
  await visitor.getByRole("button", { name: "Sign in" }).click();
  await visitor.getByRole("link", { name: "Gantry Rules" }).waitFor();
  const { pathname, search } = new URL(visitor.url());
  expect(pathname + search).toBe("/console/models?kind=text");
});

test("signing in does not redirect to another site", async ({ gantry, visit, visitor }) => {
  for (const from of ["https://evil.example/", "/\\evil.example"]) {
    await visitor.goto(`/console/sign-in?from=${encodeURIComponent(from)}`);
    await visitor.getByLabel("API key").fill(gantry.adminKey);
    await visitor.getByRole("button", { name: "Sign in" }).click();
    await visitor.getByRole("heading", { name: "Overview" }).waitFor();
    expect(new URL(visitor.url()).pathname, from).toBe("/console/");
    await visit.context.clearCookies();
  }
});

test("invalid search parameters are dropped", async ({ page }) => {
  await page.goto("/console/models?kind=poem&page=zero");
  await page.getByRole("link", { name: "Gantry Image" }).waitFor();
  expect(new URL(page.url()).search).toBe("");
});
