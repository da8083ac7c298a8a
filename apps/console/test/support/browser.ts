import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { isFile, provide } from "../../../server/test/support/system-packages.ts";

const program = "/usr/bin/chromium";
export const hasChromium = await provide({
  name: "Chromium",
  packages: ["chromium"],
  isThere: () => isFile(program),
});

/** Keeps Chromium from calling anything but the server under test. */
const flags = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: program, args: flags });

/** A separate browser profile. */
export interface Visit {
  readonly context: BrowserContext;
  newPage(): Promise<Page>;
  /** Logged or thrown errors, violations of the content security policy, and 5xx responses; must stay empty. */
  readonly troubles: string[];
}

/** The browser also logs 4xx responses that the page handles. */
const isHandled = /^Failed to load resource: the server responded with a status of 4\d\d/;

export async function visit(browser: Browser, baseURL: string): Promise<Visit> {
  const context = await browser.newContext({ baseURL });
  // Shorter than the test's timeout, so that the error names what it waited for.
  context.setDefaultTimeout(10_000);
  const troubles: string[] = [];
  context.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !isHandled.test(text)) troubles.push(`logged: ${text}`);
  });
  context.on("weberror", (error) => troubles.push(`thrown: ${error.error().stack}`));
  context.on("response", (response) => {
    if (response.status() >= 500) troubles.push(`response: ${response.status()} ${response.url()}`);
  });
  return { context, newPage: () => context.newPage(), troubles };
}
