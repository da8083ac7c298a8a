import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { figure, loseAnswer, rowOf, soon, submitAt, toast } from "./support/on-page.ts";

test("a user is made, given money, sees it, and is disabled in the middle of it", async ({ gantry, page, pageOf }) => {
  await page.goto("/console/admin/users");
  await page.getByRole("button", { name: "New user" }).click();
  const form = page.getByRole("dialog", { name: "New user" });
  await form.getByLabel("Username").fill("Not A Name");
  await form.getByRole("button", { name: "Make the user" }).click();
  await soon(() => form.getByLabel("Username").getAttribute("aria-invalid")).toBe("true");
  await form.getByLabel("Username").fill("newcomer");
  await form.getByRole("button", { name: "Make the user" }).click();
  const told = page.getByRole("dialog", { name: "The first key of newcomer" });
  const key = await told.getByRole("code").innerText();
  await told.getByRole("button", { name: "I have copied it" }).click();

  await rowOf(page, "Users", "newcomer").getByRole("link", { name: "newcomer" }).click();
  await soon(() => figure(page, "Balance").innerText()).toBe("$0.00");
  await page.getByLabel("Amount in dollars").fill("12.5");
  await page.getByText("Balance after: $12.50").waitFor();
  await page.getByLabel("Reason").fill("A welcome");
  await page.getByRole("button", { name: "Add $12.50" }).click();
  await soon(() => figure(page, "Balance").innerText()).toBe("$12.50");
  await rowOf(page, "Movements", "A welcome").waitFor();

  const own = await pageOf(key);
  await own.goto("/console/");
  await soon(() => figure(own, "Balance").innerText()).toBe("$12.50");
  await own.getByRole("link", { name: "Money" }).click();
  await own.getByText("A welcome").waitFor();

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog", { name: "Disable newcomer?" }).getByRole("button", { name: "Disable" }).click();
  await toast(page, "newcomer is disabled").waitFor();
  await page.getByText("None of its keys works").waitFor();
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).not.toBe(200);
  await own.getByRole("link", { name: "API keys" }).click();
  await own.getByRole("dialog", { name: "Your session has ended" }).waitFor();

  await page.getByRole("button", { name: "Enable" }).click();
  await toast(page, "newcomer is enabled").waitFor();
  expect((await gantry.call("GET", "/api/v2/me", { key })).body).toMatchObject({ balance: 12.5 });
});

test("money whose booking was not answered, or was sent twice, is booked once", async ({ gantry, page }) => {
  await gantry.newUser("payee", { credit: 0 });
  const booked = async () => (await gantry.call("GET", "/api/v2/admin/users/payee/ledger")).body.total_count;
  await page.goto("/console/admin/users/payee");
  await page.getByLabel("Amount in dollars").fill("5");
  await page.getByLabel("Reason").fill("Lost on the way");
  await page.route("**/credits", loseAnswer);
  const before = await booked();
  await page.getByRole("button", { name: "Add $5.00" }).click();
  await page.getByText("It may have been done").waitFor();
  // What became of it is read at once.
  await soon(() => figure(page, "Balance").innerText()).toBe("$5.00");
  await rowOf(page, "Movements", "Lost on the way").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Add $5.00" }).click();
  await toast(page, "The balance of payee is $5.00").waitFor();
  expect(await booked()).toBe(before + 1);

  await page.getByLabel("Amount in dollars").fill("2");
  await page.getByLabel("Reason").fill("Pressed twice");
  await submitAt(page.locator("form", { hasText: "Direction" }), [0, 0]);
  await toast(page, "The balance of payee is $7.00").waitFor();
  expect(await booked()).toBe(before + 2);
});

test("who is no admin sees nothing of the administration, and is refused at its addresses", async ({
  gantry,
  pageOf,
}) => {
  const page = await pageOf(await gantry.newUser("plain"));
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  for (const path of ["admin", "admin/users", "admin/users/admin", "admin/plans", "admin/take-downs"]) {
    await page.goto(`/console/${path}`);
    await page.getByText("This page is for admins").waitFor();
    await page.getByText("You are signed in as plain").waitFor();
  }
  const places = page.getByRole("navigation", { name: "Places" });
  expect(await places.getByText("Administration").count()).toBe(0);
  expect(await places.getByRole("link", { name: "Users" }).count()).toBe(0);
  expect(asked.filter((path) => path.startsWith("/api/v2/admin"))).toEqual([]);
});

test("the books are checked, and found right or wrong", async ({ gantry, page }) => {
  await gantry.newUser("spender", { credit: 3 });
  await page.goto("/console/");
  await page.getByRole("link", { name: "Service" }).click();
  await page.getByText("ready", { exact: true }).waitFor();
  const check = page.getByRole("button", { name: "Check the books" });
  await check.click();
  await page.getByText("The books are right").waitFor();
  expect((await gantry.call("GET", "/api/v2/admin/ledger")).body.discrepancies).toEqual([]);

  // Nothing runs that this would be reserved for.
  await gantry.database.sql`
    update wallets set reserved_micros = 30000
    where user_id = (select id from users where username = 'spender')`;
  await check.click();
  await page.getByRole("alert").getByText("The books are wrong").waitFor();
  await page.getByRole("table", { name: "What is wrong" }).getByRole("row").nth(1).waitFor();
});
