import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { soon } from "./support/on-page.ts";

test("a person deletes the own account after typing its name", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("leaver");
  const page = await pageOf(key);
  await page.goto("/console/sessions");
  await page.getByRole("button", { name: "Delete account" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete your account leaver?" });
  const submit = dialog.getByRole("button", { name: "Delete account" });
  await dialog.getByLabel("Type leaver to confirm").fill("leave");
  expect(await submit.isDisabled()).toBe(true);
  await dialog.getByLabel("Type leaver to confirm").fill("leaver");
  await submit.click();
  await page.waitForURL("**/console/sign-in**");
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(401);
});

test("an admin deletes a user, who disappears from the list", async ({ gantry, page }) => {
  await gantry.newUser("departed");
  await page.goto("/console/admin/users/departed");
  await page.getByRole("button", { name: "Delete account" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete departed?" });
  await dialog.getByLabel("Type departed to confirm").fill("departed");
  await dialog.getByRole("button", { name: "Delete account" }).click();
  await page.getByText("departed is being deleted").first().waitFor();
  await soon(async () => (await gantry.call("GET", "/api/v2/admin/users/departed")).status).toBe(404);
  await page.goto("/console/admin/users");
  await page.getByRole("link", { name: "admin" }).first().waitFor();
  expect(await page.getByText("departed").count()).toBe(0);
});
