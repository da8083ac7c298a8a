import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { connect } from "../../server/src/engines/database/index.ts";
import { writePast } from "../../server/src/features/billing/books.fixture.ts";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { test } from "./support/console-test.ts";

const run = promisify(execFile);

/** Ended predictions of the last days: three models, some of them failed. */
async function seed(gantry: GantryNode, key: string): Promise<void> {
  const { body } = await gantry.call("GET", "/api/v2/me", { key });
  const database = connect({ url: gantry.databaseUrl, poolSize: 1 });
  await writePast(
    database,
    Array.from({ length: 60 }, (_, n) => ({
      userId: body.id,
      at: new Date(Date.now() - (n % 20) * 86_400_000 - 120_000).toISOString(),
      model: `gantry/model-${n % 3}`,
      price: 10_000 * (1 + (n % 3)),
      status: n % 10 === 9 ? 502 : 200,
      inferenceMs: 200 + n * 10,
    })),
  );
  await database.close();
}

/** Requests for figures while `work` runs. */
async function seriesRequests(page: Page, work: () => Promise<unknown>): Promise<URL[]> {
  const sent: URL[] = [];
  const note = (request: { url(): string }) => {
    const url = new URL(request.url());
    if (url.pathname === "/api/v2/series") sent.push(url);
  };
  page.on("request", note);
  await work();
  page.off("request", note);
  return sent;
}

describe("a new account", () => {
  test("has cards that lead to a model, an agent and a connected model", async ({ pageOf, gantry }) => {
    const page = await pageOf(await gantry.newUser("novice"));
    await page.goto("/console/");
    const steps = page.getByRole("region", { name: "First steps" });
    await steps.getByRole("link", { name: "Connect a model", exact: true }).waitFor();
    expect(await steps.getByRole("link", { name: "Page reader" }).getAttribute("href")).toContain(
      "/console/agents/new?template=page-reader",
    );
    await steps.getByRole("link", { name: "Write with gantry/text" }).click();
    await page.waitForURL("**/console/models/gantry/text**");
  });

  test("creates a key in place, and the code works as it is pasted", async ({ pageOf, gantry }) => {
    const page = await pageOf(await gantry.newUser("coder"));
    await page.goto("/console/");
    await page.getByRole("button", { name: "Create key and show code" }).click();
    const dialog = page.getByRole("dialog", { name: "Call a model from code" });
    const codeIn = async (tab: string): Promise<string> => {
      await dialog.getByRole("tab", { name: tab }).click();
      return (await dialog.locator("pre").textContent()) ?? "";
    };
    const curl = await run("bash", ["-c", `${await codeIn("curl")} --silent`]);
    expect(JSON.parse(curl.stdout)).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
    const typescript = await run(process.execPath, [
      "--input-type=module-typescript",
      "-e",
      await codeIn("TypeScript"),
    ]);
    expect(typescript.stdout.trim()).not.toBe("");
    expect(typescript.stdout).not.toContain("undefined");
    const python = await run("python3", ["-c", await codeIn("Python")]);
    expect(python.stdout.trim()).not.toBe("");
    // The key cannot be shown again, so that Escape does not close the dialog.
    await page.keyboard.press("Escape");
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "hidden" });
  });
});

describe("the overview of a used account", () => {
  test("one request for the chart, and figures that are links", async ({ pageOf, gantry }) => {
    const key = await gantry.newUser("spender");
    await seed(gantry, key);
    const page = await pageOf(key);
    const sent = await seriesRequests(page, async () => {
      await page.goto("/console/");
      await page.getByRole("table", { name: /^Spending by model/ }).waitFor({ state: "attached" });
    });
    expect(sent.filter((url) => url.searchParams.get("group_by") === "model")).toHaveLength(1);
    expect(sent.length).toBeLessThanOrEqual(3);
    const figures = page.getByRole("list", { name: "Figures" });
    for (const [name, path] of [
      ["Balance", "/money"],
      ["On hold", "/predictions?status=running"],
      ["Spent today", "/usage?from="],
      ["Errors today", "/predictions?status=failed"],
    ] as const) {
      expect(await figures.getByRole("link", { name }).getAttribute("href")).toContain(path);
    }
    const table = page.getByRole("table", { name: /^Spending by model/ });
    expect(await table.getByRole("columnheader").allTextContents()).toEqual([
      "Day (UTC)",
      "gantry/model-2",
      "gantry/model-1",
      "gantry/model-0",
    ]);
    expect(await table.getByRole("row").count()).toBe(31);
  });

  test("hover and keys show all series of a step, the legend hides one, a range is in the address", async ({
    pageOf,
    gantry,
  }) => {
    const key = await gantry.newUser("viewer");
    await seed(gantry, key);
    const page = await pageOf(key);
    await page.goto("/console/");
    const figure = page.getByRole("figure", { name: /^Spending by model/ });
    const canvas = figure.locator("canvas");
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    if (!box) throw new Error("the chart has no size");
    await page.mouse.move(box.x + box.width - 12, box.y + box.height / 2);
    const tooltip = figure.getByRole("tooltip");
    await tooltip.getByText("Total").waitFor();
    expect(await tooltip.textContent()).toContain("$0.06");
    await figure.getByRole("button", { name: /^gantry\/model-2/ }).click();
    await page.mouse.move(box.x + box.width - 12, box.y + box.height / 2 + 1);
    await expect.poll(() => tooltip.textContent()).toContain("$0.03");
    expect(await tooltip.textContent()).not.toContain("gantry/model-2");

    await page.mouse.move(5, 5);
    await figure.getByRole("slider").focus();
    await page.keyboard.press("ArrowLeft");
    await tooltip.waitFor();

    const sent = await seriesRequests(page, async () => {
      await page.getByRole("button", { name: "Last 7 days" }).click();
      await page.getByRole("figure", { name: "Spending by model, last 7 days" }).waitFor();
      await expect
        .poll(() =>
          page
            .getByRole("table", { name: /^Spending/ })
            .getByRole("row")
            .count(),
        )
        .toBe(8);
    });
    expect(sent).toHaveLength(1);
    expect(new URL(page.url()).search).toContain("range=7d");
    await page.getByRole("button", { name: "Custom" }).click();
    await page.getByLabel("From (UTC)").fill("2026-01-01");
    await page.getByLabel("To (UTC)").fill("2026-01-31");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("No spending in this range").waitFor();
    expect(new URL(page.url()).search).toContain("from=2026-01-01");
  });
});

test("a model has a chart for each figure, also of 90 days", async ({ page }) => {
  await page.goto("/console/models/gantry/image?tab=details&range=90d");
  for (const title of ["Requests", "Errors", "Latency (p50, p95)", "Spending"]) {
    await page.getByRole("figure", { name: `${title}, last 90 days` }).waitFor();
  }
  await expect.poll(() => page.locator("figure[aria-busy]").count()).toBe(0);
  expect(await page.getByRole("alert").count()).toBe(0);
});

describe("the service", () => {
  test("has a chart for each figure of the load, and says what is kept", async ({ page, gantry }) => {
    await seed(gantry, gantry.adminKey);
    const sent = await seriesRequests(page, async () => {
      await page.goto("/console/admin");
      for (const title of ["Requests", "Errors", "Latency", "Queue depth", "Running", "Servers"]) {
        await page.getByRole("figure", { name: `${title}, last 24 hours` }).waitFor();
      }
      await page.getByRole("table", { name: "Servers, last 24 hours" }).waitFor({ state: "attached" });
    });
    expect(sent.map((url) => url.searchParams.get("metric")).sort()).toEqual([
      "errors",
      "latency",
      "nodes",
      "queue",
      "requests",
      "running",
    ]);
    const kept = page.getByRole("heading", { name: "Data retention" }).locator("xpath=ancestor::section");
    expect(await kept.textContent()).toContain("Inputs of predictions30 days");
    expect(await page.getByRole("link", { name: "gantry/model-2" }).first().getAttribute("href")).toContain(
      "/console/models/gantry/model-2",
    );
  });
});
