import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { isFile, provide } from "../../../server/test/support/system-packages.ts";

const program = "/usr/bin/chromium";
export const hasChromium = await provide({
  name: "Chromium",
  packages: ["chromium"],
  isThere: () => isFile(program),
});

/** It calls nobody but the server under test. */
const flags = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: program, args: flags });

/** A browser of its own as far as pages can tell. */
export interface Visit {
  readonly context: BrowserContext;
  newPage(): Promise<Page>;
  /** What no page of it may have come to: errors that it wrote or threw, refusals of its policy, answers of 5xx. */
  readonly troubles: string[];
}

/** A refusal that a page shows to its user is written by the browser as well; those that nobody expects are looked at. */
const ofRefusal = /^Failed to load resource: the server responded with a status of 4\d\d/;

export async function visit(browser: Browser, baseURL: string): Promise<Visit> {
  const context = await browser.newContext({ baseURL });
  // Before the test's own time is over, to be told what it waits for.
  context.setDefaultTimeout(10_000);
  const troubles: string[] = [];
  context.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !ofRefusal.test(text)) troubles.push(`written: ${text}`);
  });
  context.on("weberror", (error) => troubles.push(`thrown: ${error.error().stack}`));
  context.on("response", (response) => {
    if (response.status() >= 500) troubles.push(`answered: ${response.status()} ${response.url()}`);
  });
  return { context, newPage: () => context.newPage(), troubles };
}
