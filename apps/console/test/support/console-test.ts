import { test as base, expect } from "vitest";
import { startGantry } from "../../../server/test/support/gantry.ts";
import { hasChromium, launchBrowser, visit } from "./browser.ts";

/** The name of the session's cookie: it holds the key, and counts beside the header that the pages send. */
const sessionCookie = "gantry_session";

/**
 * A test in a real browser against a whole server, which a file has to itself. `page` is signed in as the user admin,
 * `visitor` not at all; a test with a page that came to trouble fails, whatever else it found.
 */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: what it needs is read from this pattern
  .extend("gantry", { scope: "file" }, async ({}, { onCleanup }) => {
    const gantry = await startGantry();
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
    onCleanup(async () => {
      await own.context.close();
      expect(own.troubles).toEqual([]);
    });
    return own;
  })
  .extend("visitor", ({ visit }) => visit.newPage())
  .extend("page", async ({ visit, gantry }) => {
    const { hostname } = new URL(gantry.url);
    await visit.context.addCookies([
      { name: sessionCookie, value: gantry.adminKey, domain: hostname, path: "/", httpOnly: true, sameSite: "Strict" },
    ]);
    return visit.newPage();
  })
  .runIf(hasChromium);
