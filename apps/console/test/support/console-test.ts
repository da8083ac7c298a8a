import type { BrowserContext, Page } from "playwright-core";
import { test as base, expect } from "vitest";
import { startGantry } from "../../../server/test/support/gantry.ts";
import { hasChromium, launchBrowser, type Visit, visit } from "./browser.ts";

export const sessionCookie = "gantry_session";

export async function signInBrowser({ request }: BrowserContext, url: string, key: string): Promise<void> {
  const response = await request.post(`${url}/console/api/session`, { data: { key } });
  expect(response.status(), await response.text()).toBe(200);
}

async function leave({ context, troubles }: Visit): Promise<void> {
  await context.close();
  expect(troubles).toEqual([]);
}

/**
 * Browser tests against a server of their own per file. `page` is signed in as admin, `pageOf` as the user of a key in a
 * separate browser profile, `visitor` is not signed in. A test fails if one of its pages has troubles.
 */
export const consoleTest = (environment: () => Promise<Record<string, string>> = async () => ({})) =>
  base
    // biome-ignore lint/correctness/noEmptyPattern: what it needs is read from this pattern
    .extend("gantry", { scope: "file" }, async ({}, { onCleanup }) => {
      const gantry = await startGantry({ env: await environment() });
      onCleanup(() => gantry.close());
      return gantry;
    })
    // biome-ignore lint/correctness/noEmptyPattern: what it needs is read from this pattern
    .extend("browser", { scope: "file" }, async ({}, { onCleanup }) => {
      const browser = await launchBrowser();
      onCleanup(() => browser.close());
      return browser;
    })
    .extend("visit", async ({ browser, gantry }, { onCleanup }) => {
      const own = await visit(browser, gantry.url);
      onCleanup(() => leave(own));
      return own;
    })
    .extend("visitor", ({ visit }) => visit.newPage())
    .extend("page", async ({ visit, gantry }) => {
      await signInBrowser(visit.context, gantry.url, gantry.adminKey);
      return visit.newPage();
    })
    .extend("pageOf", async ({ browser, gantry }, { onCleanup }) => {
      const visits: Visit[] = [];
      onCleanup(async () => {
        for (const opened of visits) await leave(opened);
      });
      return async (key: string): Promise<Page> => {
        const own = await visit(browser, gantry.url);
        visits.push(own);
        await signInBrowser(own.context, gantry.url, key);
        return own.newPage();
      };
    })
    .runIf(hasChromium);

export const test = consoleTest();
