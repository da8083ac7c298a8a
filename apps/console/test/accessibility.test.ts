import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import type { Visit } from "./support/browser.ts";
import { test } from "./support/console-test.ts";
import { soon } from "./support/on-page.ts";
import { createSampleData, type Sample } from "./support/sample-data.ts";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let created: Promise<Sample> | undefined;
const sampleOf = (gantry: GantryNode): Promise<Sample> => {
  created ??= createSampleData(gantry.call);
  return created;
};
afterAll(async () => (await created)?.llm.close());

const rules: RunOptions = {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"] },
  resultTypes: ["violations"],
};

/** What axe finds on the open page, as lines that name the rule and the element. */
async function violationsOn(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(rules)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** Opens a page and waits for its content. A page that follows a run never stops to load. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`/console${path}`);
  // Not by its role: behind a dialog that the address opens, the heading is hidden from readers.
  await page.locator("h1").first().waitFor();
  await soon(() => page.getByText("Loading…").count()).toBe(0);
  await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => {});
}

/** The tool server of the sample cannot be reached, which its page shows. */
function forgiveToolServer({ troubles }: Visit): void {
  const expected = /mcp-servers\/\w+\/tools$|status of 502/;
  troubles.splice(0, troubles.length, ...troubles.filter((line) => !expected.test(line)));
}

/** Every page of the sidebar, and a page of each kind that it leads to. */
const pathsOf = ({ prediction, drive, server, agent, run, waiting }: Sample): string[] => [
  "/",
  "/models",
  "/models/connect",
  "/models/connect?type=anthropic",
  "/models/admin/assistant",
  "/models/admin/assistant?tab=api",
  "/models/admin/assistant?tab=details",
  "/models/admin/assistant?tab=manifest",
  "/models/gantry/image",
  "/providers",
  "/aliases",
  "/batches",
  "/sessions",
  "/teams",
  "/predictions",
  `/predictions/${prediction}`,
  "/usage",
  "/files",
  "/agents",
  "/agents/new",
  `/agents/${agent}`,
  `/agents/${agent}?tab=edit`,
  `/agents/${agent}?tab=revisions`,
  `/agents/${agent}?tab=runs`,
  `/agents/${agent}?tab=schedules`,
  `/agents/${agent}?tab=triggers`,
  `/agents/${agent}?tab=share`,
  `/agents/${agent}/chat`,
  `/agents/${agent}/chat/release-2-4`,
  "/automations",
  "/automations?tab=triggers",
  "/runs",
  `/runs/${run}`,
  `/runs/${waiting}`,
  "/approvals",
  "/marketplace",
  "/marketplace/grace/style-reviewer",
  "/tool-servers",
  `/tool-servers/${server}`,
  "/drives",
  `/drives/${drive}`,
  `/drives/${drive}?q=shipped`,
  "/identity",
  "/money",
  "/keys",
  "/secrets",
  "/webhooks",
  "/admin",
  "/activity",
  "/admin/audit",
  "/admin/users",
  "/admin/users/grace",
  "/admin/plans",
  "/admin/take-downs",
  "/docs/",
  "/docs/guides/agents",
  "/no-such-page",
];

const looks = [
  { theme: "light", width: 1280 },
  { theme: "dark", width: 1280 },
  { theme: "light", width: 390 },
] as const;

for (const { theme, width } of looks) {
  test(`no page breaks a rule of WCAG 2.2 AA (${theme}, ${width} px)`, async ({ gantry, page, visit }) => {
    const sample = await sampleOf(gantry);
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.addInitScript({ content: axe });
    const found: Record<string, string[]> = {};
    for (const path of pathsOf(sample)) {
      await open(page, path);
      const violations = await violationsOn(page);
      if (violations.length > 0) found[path] = violations;
    }
    expect(found).toEqual({});
    forgiveToolServer(visit);
  }, 240_000);
}

test("dialogs and the palette break no rule either", async ({ gantry, page, visit }) => {
  const { drive, agent } = await sampleOf(gantry);
  await page.addInitScript({ content: axe });
  const openings: [path: string, act: () => Promise<unknown>][] = [
    ["/keys", () => page.getByRole("button", { name: "New key" }).click()],
    ["/keys", () => page.getByRole("link", { name: "website" }).click()],
    ["/secrets", () => page.getByRole("button", { name: "New secret" }).click()],
    ["/aliases", () => page.getByRole("button", { name: "New alias" }).click()],
    ["/drives", () => page.getByRole("button", { name: "New drive" }).click()],
    [`/drives/${drive}?file=/figures.csv`, () => page.getByRole("dialog").waitFor()],
    [`/drives/${drive}`, () => page.getByRole("button", { name: "Change model" }).click()],
    [`/agents/${agent}?tab=schedules`, () => page.getByRole("button", { name: "New schedule" }).click()],
    [`/agents/${agent}?tab=triggers`, () => page.getByRole("button", { name: "New trigger" }).click()],
    [`/agents/${agent}?tab=triggers`, () => page.getByRole("button", { name: "Deliveries to Tags" }).click()],
    ["/tool-servers", () => page.getByRole("button", { name: "Connect server" }).click()],
    ["/admin/users", () => page.getByRole("button", { name: "New user" }).click()],
    ["/", () => page.keyboard.press("Control+k")],
  ];
  const found: Record<string, string[]> = {};
  for (const [path, act] of openings) {
    await open(page, path);
    await act();
    await page.getByRole("dialog").waitFor();
    const violations = await violationsOn(page);
    if (violations.length > 0) found[path] = violations;
  }
  expect(found).toEqual({});
  forgiveToolServer(visit);
}, 120_000);

test("the sign-in page breaks no rule", async ({ visitor }) => {
  await visitor.addInitScript({ content: axe });
  await visitor.goto("/console/sign-in", { waitUntil: "networkidle" });
  await visitor.getByLabel("API key").waitFor();
  expect(await violationsOn(visitor)).toEqual([]);
});
