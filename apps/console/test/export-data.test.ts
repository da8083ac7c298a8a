import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { toast } from "./support/on-page.ts";

const run = promisify(execFile);

async function download(page: Page, username: string, change?: (page: Page) => Promise<void>) {
  await page.getByRole("button", { name: "Export data" }).click();
  const dialog = page.getByRole("dialog", { name: `Export data of ${username}` });
  await dialog.waitFor();
  await change?.(page);
  const saving = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download" }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toMatch(new RegExp(`^gantry-${username}-[\\d-]+\\.tar\\.gz$`));
  await toast(page, /saved$/).waitFor();
  const { stdout } = await run("tar", ["-xzOf", await saved.path(), "manifest.json"]);
  return JSON.parse(stdout);
}

test("users and admins download all data of an account, with or without files", async ({ gantry, page, pageOf }) => {
  const own = await pageOf(await gantry.newUser("exporter"));
  await own.goto("/console/sessions");
  const whole = await download(own, "exporter");
  expect(whole).toMatchObject({ account: { username: "exporter" }, with_files: true, complete: true });

  await page.goto("/console/admin/users/exporter");
  const lists = await download(page, "exporter", (shown) =>
    shown.getByLabel("Include the contents of files").uncheck(),
  );
  expect(lists).toMatchObject({ account: { username: "exporter" }, with_files: false });
});

test("a refusal is shown in the dialog", async ({ gantry, pageOf }) => {
  const page = await pageOf(await gantry.newUser("refused"));
  await page.goto("/console/sessions");
  const json = { detail: "An export of this account is running. Wait until it ends, or cancel it.", status_code: 409 };
  await page.route("**/api/v2/export*", (route) => route.fulfill({ status: 409, json }));
  await page.getByRole("button", { name: "Export data" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Download" }).click();
  await dialog.getByText("An export of this account is running").waitFor();
});
