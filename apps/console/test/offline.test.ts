import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Visit } from "./support/browser.ts";
import { test } from "./support/console-test.ts";
import { soon } from "./support/on-page.ts";

const banner = (page: Page) => page.getByText("Can't reach the server. Retrying…");

const chunk = /\/console\/assets\/keys-page-.*\.js$/;

/** The browser logs the connection errors that these tests cause. */
function forgiveTroubles({ troubles }: Visit): void {
  troubles.length = 0;
}

test("a chunk that fails to load can be retried", async ({ visit, page }) => {
  await page.route(chunk, (route) => route.abort("internetdisconnected"));
  await page.goto("/console/");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("This page could not be loaded").waitFor();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.unroute(chunk);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "API keys" }).waitFor();
  forgiveTroubles(visit);
});

test("a chunk removed by an upgrade is found by reloading the page", async ({ visit, page }) => {
  let isUpgraded = false;
  await page.route(chunk, (route) =>
    isUpgraded ? route.continue() : route.fulfill({ status: 404, body: "Not found" }),
  );
  await page.goto("/console/");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("This page could not be loaded").waitFor();
  // The new page refers to the new chunks.
  page.once("framenavigated", () => {
    isUpgraded = true;
  });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "API keys" }).waitFor();
  expect(isUpgraded).toBe(true);
  forgiveTroubles(visit);
});

test("a chart that fails to load leaves the page as it is, and is loaded again", async ({ gantry, visit, page }) => {
  const drawing = { prompt: "x", size: "1280x720", optimize_prompt_mode: "fast" };
  await gantry.call("POST", "/api/v1/gantry/image/predict", { form: drawing });
  const charts = /\/console\/assets\/chart-canvas-.*\.js$/;
  await page.route(charts, (route) => route.abort("internetdisconnected"));
  await page.goto("/console/usage");
  const chart = page.getByRole("figure", { name: /^Requests/ });
  await chart.getByText("The chart could not be loaded.").waitFor();
  await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
  await page.unroute(charts);
  await chart.getByRole("button", { name: "Load again" }).click();
  await chart.locator("canvas").waitFor();
  forgiveTroubles(visit);
});

test("pages are preloaded, and a banner shows while the network is down", async ({ visit, page }) => {
  const preloaded = page.waitForResponse(/\/assets\/webhooks-page-.*\.js$/);
  await page.goto("/console/");
  await (await preloaded).finished();
  await page.waitForLoadState("networkidle");
  await page.context().setOffline(true);
  await banner(page).waitFor();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  await page.getByText("Can't reach the server. Try again in a moment.").first().waitFor();
  await page.context().setOffline(false);
  await banner(page).waitFor({ state: "detached" });
  // Failed queries are refetched.
  await soon(() => page.getByText("Can't reach the server").count()).toBe(0);
  forgiveTroubles(visit);
});

test("the console recovers by itself when the server is back", async ({ visit, page }) => {
  await page.goto("/console/", { waitUntil: "networkidle" });
  await page.getByRole("link", { name: "API keys" }).waitFor();
  const calls = /\/(api|v1)\//;
  await page.route(calls, (route) => route.abort("connectionrefused"));
  await page.getByRole("link", { name: "API keys" }).click();
  await banner(page).waitFor();
  await page.unroute(calls);
  await page.getByRole("table", { name: "API keys" }).waitFor();
  await banner(page).waitFor({ state: "detached" });
  expect(new URL(page.url()).pathname).toBe("/console/keys");
  forgiveTroubles(visit);
});
