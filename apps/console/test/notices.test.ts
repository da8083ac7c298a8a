import { expect } from "vitest";
import { search } from "../../server/test/support/notices.ts";
import { test } from "./support/console-test.ts";
import { soon, toast } from "./support/on-page.ts";

test("low money is shown above every page with the next step, until it is dismissed", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("thin", { credit: 3 });
  const page = await pageOf(key);
  await page.goto("/console/money");
  await page.getByLabel("Balance below ($)").fill("a lot");
  await page.getByLabel("Webhook URL").fill("ftp://example.com");
  await page.getByRole("button", { name: "Save notices" }).click();
  await page.getByText("Must be an amount in dollars, 0 or more").waitFor();
  await page.getByLabel("Balance below ($)").fill("5");
  await page.getByRole("button", { name: "Save notices" }).click();
  await page.getByText("Must be an http or https URL without a user name or password").waitFor();
  await page.getByLabel("Webhook URL").fill("https://example.com/low");
  await page.getByRole("button", { name: "Save notices" }).click();
  await toast(page, "Notices saved").waitFor();
  expect((await gantry.call("GET", "/api/v2/notices/settings", { key })).body).toEqual({
    ...{ balance_below: 5, budget_percent: 80, webhook: { url: "https://example.com/low" } },
  });

  await search(gantry);
  await page.goto("/console/");
  const banner = page.getByRole("region", { name: "Notices" });
  await banner.getByText("The balance of thin is $3.00, below $5.00. Ask an admin to add credit.").waitFor();
  await banner.getByRole("button", { name: /^Dismiss/ }).click();
  await soon(() => banner.count()).toBe(0);
  await page.reload();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect((await gantry.call("GET", "/api/v2/notices?status=all", { key })).body.results).toMatchObject([
    { dismissed_at: expect.any(String), resolved_at: null },
  ]);
  expect(await banner.count()).toBe(0);
});

test("an admin adds credit from the notice, and sees whose balance is low", async ({ gantry, page }) => {
  await gantry.newUser("lean", { credit: 0.5 });
  await gantry.call("PUT", "/api/v2/notices/settings", { json: { balance_below: 1_000, budget_percent: null } });
  await search(gantry);
  await page.goto("/console/");
  const banner = page.getByRole("region", { name: "Notices" });
  await banner.getByRole("link", { name: "Add credit" }).click();
  await page.getByRole("heading", { name: "Adjust balance" }).waitFor();
  await page.goto("/console/admin/users/lean");
  await page.getByText("Low balance").waitFor();
});
