import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { rowOf, soon } from "./support/on-page.ts";

test("a user sees its own activity, and admins see that of everyone", async ({ gantry, page: admins, pageOf }) => {
  const key = await gantry.newUser("ann");
  await gantry.call("PUT", "/api/v2/secrets/of-admin", { json: { value: "x" } });
  await gantry.call("PUT", "/api/v2/secrets/of-ann", { key, json: { value: "x" } });
  await gantry.call("POST", "/api/v2/admin/users/ann/credits", { json: { amount: 5, reason: "a gift" } });

  const page = await pageOf(key);
  await page.goto("/console/");
  await page.getByRole("complementary").getByRole("link", { name: "Activity" }).click();
  await rowOf(page, "Activity", "of-ann").waitFor();
  // A click anywhere in the row opens the record.
  await rowOf(page, "Activity", "credit.add").first().getByRole("cell").last().click();
  await page.getByRole("dialog").getByText("a gift").waitFor();
  await page.keyboard.press("Escape");
  expect(await page.getByText("of-admin").count()).toBe(0);
  expect(await page.getByLabel("User who acted").count()).toBe(0);
  await page.getByLabel("Kind").selectOption({ label: "Secrets" });
  await soon(() => rowOf(page, "Activity", "credit.add").count()).toBe(0);
  await rowOf(page, "Activity", "of-ann").waitFor();
  expect(new URL(page.url()).search).toBe("?action=secret");

  await admins.goto("/console/admin/audit");
  for (const name of ["of-ann", "of-admin"]) await rowOf(admins, "Audit log", name).waitFor();
  await admins.getByLabel("User who acted").fill("ann");
  await soon(() => rowOf(admins, "Audit log", "of-admin").count()).toBe(0);
  await rowOf(admins, "Audit log", "of-ann").waitFor();
});
