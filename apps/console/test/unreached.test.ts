import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Visit } from "./support/browser.ts";
import { test } from "./support/console-test.ts";
import { soon } from "./support/on-page.ts";

const line = (page: Page) => page.getByText("The server is not reached");

/** The part of the console that shows API keys. */
const part = /\/console\/assets\/keys-page-.*\.js$/;

/** What the browser writes about answers that do not come was meant to be. */
function expectTrouble({ troubles }: Visit): void {
  troubles.length = 0;
}

test("a part that cannot be loaded leaves the console standing, and is tried again", async ({ visit, page }) => {
  await page.route(part, (route) => route.abort("internetdisconnected"));
  await page.goto("/console/");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("This part of the console could not be loaded").waitFor();
  await page.getByRole("navigation", { name: "Places" }).waitFor();
  await page.unroute(part);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "API keys" }).waitFor();
  expectTrouble(visit);
});

test("a part that an upgrade took away is found by loading the page anew", async ({ visit, page }) => {
  let isUpgraded = false;
  await page.route(part, (route) =>
    isUpgraded ? route.continue() : route.fulfill({ status: 404, body: "Not found" }),
  );
  await page.goto("/console/");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("This part of the console could not be loaded").waitFor();
  // The page of the new build names the parts of the new one.
  page.once("framenavigated", () => {
    isUpgraded = true;
  });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "API keys" }).waitFor();
  expect(isUpgraded).toBe(true);
  expectTrouble(visit);
});

test("every part is loaded ahead, and without a network the console says so until it is back", async ({
  visit,
  page,
}) => {
  await page.goto("/console/", { waitUntil: "networkidle" });
  await page.context().setOffline(true);
  await line(page).waitFor();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  await page.getByText("The server does not answer. Try again in a moment.").first().waitFor();
  await page.context().setOffline(false);
  await line(page).waitFor({ state: "detached" });
  // What could not be read is, without being asked for.
  await soon(() => page.getByText("The server does not answer").count()).toBe(0);
  expectTrouble(visit);
});

test("a server that is away and comes back is noticed without a click", async ({ visit, page }) => {
  await page.goto("/console/", { waitUntil: "networkidle" });
  const calls = /\/(api|v1)\//;
  await page.route(calls, (route) => route.abort("connectionrefused"));
  await page.getByRole("link", { name: "API keys" }).click();
  await line(page).waitFor();
  await page.unroute(calls);
  await page.getByRole("table", { name: "API keys" }).waitFor();
  await line(page).waitFor({ state: "detached" });
  expect(new URL(page.url()).pathname).toBe("/console/keys");
  expectTrouble(visit);
});
