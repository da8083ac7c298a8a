import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { figure, loseAnswer, rowOf, soon, submitAt, toast } from "./support/on-page.ts";

test("a user is created, gets credit, and is disabled while signed in", async ({ gantry, page, pageOf }) => {
  await page.goto("/console/admin/users");
  await page.getByRole("button", { name: "New user" }).click();
  const form = page.getByRole("dialog", { name: "New user" });
  await form.getByLabel("Username").fill("Not A Name");
  await form.getByRole("button", { name: "Create user" }).click();
  await soon(() => form.getByLabel("Username").getAttribute("aria-invalid")).toBe("true");
  await form.getByLabel("Username").fill("newcomer");
  await form.getByRole("button", { name: "Create user" }).click();
  const shown = page.getByRole("dialog", { name: "First API key of newcomer" });
  const key = await shown.getByRole("code").innerText();
  await shown.getByRole("button", { name: "I've copied it" }).click();

  await rowOf(page, "Users", "newcomer").getByRole("link", { name: "newcomer" }).click();
  await soon(() => figure(page, "Balance").innerText()).toBe("$0.00");
  await page.getByLabel("Amount ($)").fill("12.5");
  await page.getByText("New balance: $12.50").waitFor();
  await page.getByLabel("Reason").fill("A welcome");
  await page.getByRole("button", { name: "Add $12.50" }).click();
  await soon(() => figure(page, "Balance").innerText()).toBe("$12.50");
  await rowOf(page, "Transactions", "A welcome").waitFor();

  expect(await page.getByLabel(/password/i).count()).toBe(0);
  await page.getByRole("button", { name: "Create link" }).click();
  const link = page.getByRole("dialog", { name: "Sign-in link for newcomer" });
  expect(await link.getByRole("code").innerText()).toMatch(/\/console\/sign-in#/);
  await link.getByRole("button", { name: "I've copied it" }).click();
  await gantry.call("POST", "/api/v2/admin/users/newcomer/keys", { json: { name: "stolen", monthly_limit: 2 } });
  await page.reload();
  const stolen = rowOf(page, "API keys", "stolen");
  await stolen.getByText(/\$0\.00 of \$2\.00/).waitFor();
  await stolen.getByRole("button", { name: "Revoke" }).click();
  await page
    .getByRole("dialog", { name: /Revoke key .*stolen/ })
    .getByRole("button", { name: "Revoke" })
    .click();
  await soon(() => stolen.count()).toBe(0);
  await page.getByRole("figure", { name: "Spending, last 30 days" }).waitFor();

  const own = await pageOf(key);
  await own.goto("/console/");
  await own.getByText("Your balance is $12.50.").waitFor();
  await own.getByRole("link", { name: "Money" }).click();
  await own.getByText("A welcome").waitFor();

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog", { name: "Disable newcomer?" }).getByRole("button", { name: "Disable" }).click();
  await toast(page, "newcomer disabled").waitFor();
  await page.getByText("Their keys are blocked").waitFor();
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).not.toBe(200);
  await own.getByRole("link", { name: "API keys" }).click();
  await own.getByRole("dialog", { name: "Your session has ended" }).waitFor();

  await page.getByRole("button", { name: "Enable" }).click();
  await toast(page, "newcomer enabled").waitFor();
  expect((await gantry.call("GET", "/api/v2/me", { key })).body).toMatchObject({ balance: 12.5 });
});

test("credit is booked once after a lost answer or a double click", async ({ gantry, page }) => {
  await gantry.newUser("payee", { credit: 0 });
  const booked = async () => (await gantry.call("GET", "/api/v2/admin/users/payee/ledger")).body.total_count;
  await page.goto("/console/admin/users/payee");
  await page.getByLabel("Amount ($)").fill("5");
  await page.getByLabel("Reason").fill("Lost on the way");
  await page.route("**/credits", loseAnswer);
  const before = await booked();
  await page.getByRole("button", { name: "Add $5.00" }).click();
  await page.getByText("This request may have gone through").waitFor();
  // The page refetches the balance after the failure.
  await soon(() => figure(page, "Balance").innerText()).toBe("$5.00");
  await rowOf(page, "Transactions", "Lost on the way").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Add $5.00" }).click();
  await toast(page, "New balance of payee: $5.00").waitFor();
  expect(await booked()).toBe(before + 1);

  await page.getByLabel("Amount ($)").fill("2");
  await page.getByLabel("Reason").fill("Pressed twice");
  await submitAt(page.locator("form", { hasText: "Amount ($)" }), [0, 0]);
  await toast(page, "New balance of payee: $7.00").waitFor();
  expect(await booked()).toBe(before + 2);
});

test("other users cannot see or open the admin pages", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("plain"));
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  for (const path of ["admin", "admin/users", "admin/users/admin", "admin/plans", "admin/take-downs"]) {
    await page.goto(`/console/${path}`);
    await page.getByText("Admins only").waitFor();
    await page.getByText("You're signed in as plain").waitFor();
  }
  const navigation = page.getByRole("navigation", { name: "Main" });
  expect(await navigation.getByText("Administration").count()).toBe(0);
  expect(await navigation.getByRole("link", { name: "Users" }).count()).toBe(0);
  expect(requested.filter((path) => path.startsWith("/api/v2/admin"))).toEqual([]);
});

test("the ledger check finds a discrepancy", async ({ gantry, page }) => {
  await gantry.newUser("spender", { credit: 3 });
  await page.goto("/console/");
  await page.getByRole("link", { name: "Service" }).click();
  await page.getByText("Ready", { exact: true }).waitFor();
  const check = page.getByRole("button", { name: "Check ledger" });
  await check.click();
  await page.getByText("Ledger balanced").waitFor();
  expect((await gantry.call("GET", "/api/v2/admin/ledger")).body.discrepancies).toEqual([]);

  // A hold without any running work.
  await gantry.database.sql`
    update wallets set reserved_micros = 30000
    where user_id = (select id from users where username = 'spender')`;
  await check.click();
  await page.getByRole("alert").getByText("Ledger check failed").waitFor();
  await page.getByRole("table", { name: "Discrepancies" }).getByRole("row").nth(1).waitFor();
});
