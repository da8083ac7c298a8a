import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { rowOf, soon } from "./support/on-page.ts";

const search = "Search pages, models, agents or an id";

test("the palette opens pages, models, agents and pasted ids by keyboard", async ({ gantry, page }) => {
  await putModel(gantry, "zebra", textModel("http://127.0.0.1:9/v1", { title: "Zebra writer" }));
  const agentId = await putAgent(gantry, { name: "Zebra keeper", model: "admin/zebra" });
  await page.goto("/console/");
  await page.getByRole("button", { name: "Search" }).waitFor();

  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: search });
  await input.waitFor();
  const current = async () => {
    const id = await input.getAttribute("aria-activedescendant");
    return page.locator(`[id="${id}"][role=option][aria-selected=true]`).innerText();
  };
  await input.fill("zebra");
  await page.getByRole("option", { name: "Zebra writer" }).waitFor();
  await page.getByRole("option", { name: "Zebra keeper", exact: true }).waitFor();
  await page.getByRole("option", { name: "Chat with Zebra keeper" }).waitFor();
  expect(await current()).toContain("Zebra writer");
  await input.press("ArrowDown");
  await soon(current).toContain("Zebra keeper");
  await input.press("Enter");
  await page.waitForURL(`**/console/agents/${agentId}`);
  expect(await input.count()).toBe(0);

  await page.keyboard.press("Control+k");
  await input.fill(` "${agentId}", `);
  await soon(current).toContain("Open agent");
  await input.fill("aliases");
  await soon(current).toBe("Aliases");
  await input.press("Enter");
  await page.waitForURL("**/console/aliases");

  await page.getByRole("button", { name: "Search" }).click();
  await input.fill("no such thing");
  await page.getByText("Nothing found.").waitFor();
  await input.press("Escape");
  await soon(() => input.count()).toBe(0);
});

test("a click anywhere in a row opens it, and the middle button opens a tab", async ({ gantry, page, visit }) => {
  const made = await gantry.call("POST", "/v1/drives", { json: { name: "Papers" } });
  await page.goto("/console/drives");
  const row = rowOf(page, "Drives", "Papers");
  const opening = visit.context.waitForEvent("page");
  await row.getByRole("cell").last().click({ button: "middle" });
  const tab = await opening;
  await tab.waitForURL(`**/console/drives/${made.body.id}`);
  await tab.close();
  await row.getByRole("cell").last().click();
  await page.waitForURL(`**/console/drives/${made.body.id}`);
});

test("relative times keep up with the clock", async ({ gantry, page }) => {
  await gantry.call("POST", "/v1/drives", { json: { name: "Aging" } });
  await page.goto("/console/drives");
  const when = rowOf(page, "Drives", "Aging").locator("time");
  const first = await when.innerText();
  await soon(() => when.innerText()).not.toBe(first);
});

test("an unknown address keeps the sidebar", async ({ page }) => {
  await page.goto("/console/no/such/page");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await page.getByRole("link", { name: "API keys" }).waitFor();
});

test("the menu of a phone lies over the page and Escape closes it", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/console/keys");
  const title = page.getByRole("heading", { name: "API keys" });
  await title.waitFor();
  const before = await title.boundingBox();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Drives" }).waitFor();
  expect(await page.locator("h1").boundingBox()).toEqual(before);
  await page.keyboard.press("Escape");
  await soon(() => page.getByRole("link", { name: "Drives" }).count()).toBe(0);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Drives" }).click();
  await page.getByRole("heading", { name: "Drives" }).waitFor();
});

const focused = "document.activeElement?.labels?.[0]?.textContent";

test("the sign-in page focuses its field", async ({ visitor }) => {
  await visitor.goto("/console/sign-in");
  await soon(() => visitor.evaluate(focused)).toBe("API key");
});

test("dialogs focus their first field and return focus", async ({ page }) => {
  await page.goto("/console/keys");
  await page.getByRole("button", { name: "New key" }).click();
  await soon(() => page.evaluate(focused)).toBe("Name");
  await page.keyboard.press("Escape");
  await soon(() => page.evaluate("document.activeElement?.textContent")).toBe("New key");
});

test("the open tab and the open entry of the menu can be seen on small screens", async ({ gantry, page }) => {
  const agent = await putAgent(gantry, { name: "Tabbed" });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`/console/agents/${agent}?tab=share`);
  const isWithin = (inner: string, outer: string) =>
    page.evaluate(`(() => {
      const [a, b] = ${JSON.stringify([inner, outer])}.map((of) => document.querySelector(of).getBoundingClientRect());
      return a.left >= b.left - 2 && a.right <= b.right + 2 && a.top >= b.top - 2 && a.bottom <= b.bottom + 2;
    })()`);
  await page.getByRole("tab", { name: "Share", selected: true }).waitFor();
  await soon(() => isWithin('[role="tab"][data-state="active"]', '[role="tablist"]')).toBe(true);
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.goto("/console/admin/plans");
  await page.getByRole("heading", { name: "Plans" }).waitFor();
  await soon(() => isWithin("aside nav a.active", "aside nav")).toBe(true);
});
