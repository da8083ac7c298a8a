import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { chatModel } from "../../server/test/support/models.ts";
import { test } from "./support/console-test.ts";
import { figure, rowOf, soon } from "./support/on-page.ts";

const drawing = { prompt: "x", size: "1280x720", optimize_prompt_mode: "fast" };
const hiddenWidth = ({ parentElement: box }: { parentElement: { scrollWidth: number; clientWidth: number } }) =>
  box.scrollWidth - box.clientWidth;
const menu = (page: Page) => page.getByRole("complementary");
const actingFor = (page: Page) => menu(page).getByLabel("Act for");
const entries = (page: Page) => menu(page).getByRole("navigation").getByRole("link").allInnerTexts();

/** The team lab of olga with the member mark. Each has a key, and has paid for a picture: three, one and one. */
async function createLab(gantry: GantryNode): Promise<{ olga: string; mark: string }> {
  const [olga, mark] = [await gantry.newUser("olga"), await gantry.newUser("mark")];
  const ok = async (method: string, path: string, options: object = {}) => {
    const answer = await gantry.call(method, path, options);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  await ok("POST", "/api/v2/teams", { json: { name: "lab", owner: "olga" } });
  await ok("PATCH", "/api/v2/admin/users/lab", { json: { plan: "unlimited" } });
  await ok("POST", "/api/v2/admin/users/lab/credits", { json: { amount: 5, reason: "test" } });
  await ok("POST", "/api/v2/teams/lab/members", { key: olga, json: { username: "mark" } });
  const headers = { "x-gantry-team": "lab" };
  const unused = chatModel("http://127.0.0.1:9/v1", { visibility: "private" });
  await ok("PUT", "/api/v1/lab/shared", { key: olga, headers, json: { ...unused, title: "Shared model" } });
  await ok("PUT", "/api/v1/mark/own", { key: mark, json: { ...unused, title: "Own model" } });
  for (const [key, name] of [
    [olga, "of-olga"],
    [mark, "of-mark"],
  ]) {
    await ok("POST", "/api/v2/keys", { key, headers, json: { name } });
    await ok("POST", "/api/v1/gantry/image/predict", { key, headers, form: drawing });
  }
  await ok("POST", "/api/v2/keys", { key: mark, json: { name: "private-key" } });
  for (let n = 0; n < 3; n++) await ok("POST", "/api/v1/gantry/image/predict", { key: mark, form: drawing });
  return { olga, mark };
}

/** The tests share it. */
let lab: ReturnType<typeof createLab> | undefined;
const labOf = (gantry: GantryNode) => {
  lab ??= createLab(gantry);
  return lab;
};

async function act(page: Page, label: string): Promise<void> {
  await actingFor(page).selectOption({ label });
  await menu(page)
    .getByText(label.endsWith("(team)") ? /^For lab, as / : /^mark$/)
    .waitFor();
}

test("an owner sees the keys, the usage and the balance of the whole team", async ({ gantry, pageOf }) => {
  const page = await pageOf((await labOf(gantry)).olga);
  await page.goto("/console/teams/lab");
  await page.getByRole("button", { name: "Act for team" }).click();
  await menu(page).getByText("For lab, as owner").waitFor();
  expect(await entries(page)).toEqual(expect.arrayContaining(["Providers", "Secrets"]));
  await page.goto("/console/keys");
  for (const name of ["of-olga", "of-mark"]) await rowOf(page, "API keys", name).waitFor();
  await page.goto("/console/usage");
  await soon(() => figure(page, "Requests").innerText()).toMatch(/^2\b/);
  await page.goto("/console/money");
  await soon(() => figure(page, "Balance").innerText()).toContain("$4.94");
  await page.getByRole("table", { name: "Transactions" }).waitFor();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/console/teams/lab");
  await rowOf(page, "Members", "mark").getByRole("button", { name: "Remove" }).waitFor();
  const table = page.getByRole("table", { name: "Members" });
  expect(await table.evaluate(hiddenWidth)).toBe(0);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("dialog").getByLabel("Act for").selectOption({ label: "olga (you)" });
  await soon(() => page.evaluate(() => sessionStorage.getItem("gantry-team"))).toBe(null);
});

test("staying on a page with changes does not act for the team, a new tab can", async ({ gantry, pageOf }) => {
  const { olga } = await labOf(gantry);
  const page = await pageOf(olga);
  const teamsSent: (string | undefined)[] = [];
  page.on("request", (sent) => {
    if (sent.url().endsWith("/api/v2/me") || /\/agents(\?|$)/.test(sent.url()))
      teamsSent.push(sent.headers()["x-gantry-team"]);
  });
  await page.goto("/console/agents/new");
  await page.getByRole("form", { name: "Agent" }).getByLabel("Name (required)").fill("own");
  page.once("dialog", (dialog) => void dialog.dismiss());
  await actingFor(page).selectOption({ label: "lab (team)" });
  await page.getByRole("link", { name: "My agents", exact: true }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("heading", { name: "My agents", level: 1 }).waitFor();
  await page.reload();
  await soon(() => actingFor(page).inputValue()).toBe("");
  expect(new Set(teamsSent)).toEqual(new Set([undefined]));

  const made = await gantry.call("GET", "/api/v2/predictions", { key: olga, headers: { "x-gantry-team": "lab" } });
  const [{ id }] = made.body.results;
  await page.goto(`/console/predictions/${id}?act-for=lab`);
  await page.getByText("Prediction not found").waitFor();
  expect(await actingFor(page).inputValue()).toBe("");
  await page.getByRole("button", { name: "Open as team lab" }).click();
  await menu(page).getByText("For lab, as owner").waitFor();
  await page.getByRole("heading", { name: "Details" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/predictions/${id}`);
});

test("a mistyped budget is refused, not removed", async ({ gantry, pageOf }) => {
  const page = await pageOf((await labOf(gantry)).olga);
  await page.goto("/console/teams/lab");
  const change = page.getByRole("button", { name: "Change mark" });
  const dialog = page.getByRole("dialog");
  const monthly = dialog.getByLabel("Monthly limit ($)");
  const save = dialog.getByRole("button", { name: "Save member" });
  await change.click();
  await monthly.fill("50,5");
  await save.click();
  await dialog.getByText("Must be an amount in dollars, 0 or more").waitFor();
  await monthly.fill("50.5");
  await save.click();
  await rowOf(page, "Members", "mark").getByText("$50.50").last().waitFor();
});

test("a removed member learns that the page no longer acts for the team", async ({ gantry, pageOf }) => {
  const { olga } = await labOf(gantry);
  await gantry.newUser("nina").then(async (key) => {
    await gantry.call("POST", "/api/v2/teams/lab/members", { key: olga, json: { username: "nina" } });
    const page = await pageOf(key);
    await page.clock.install();
    await page.goto("/console/teams/lab");
    await page.getByRole("button", { name: "Act for team" }).click();
    await menu(page).getByText("For lab, as member").waitFor();
    await gantry.call("DELETE", "/api/v2/teams/lab/members/nina", { key: olga });
    await page.clock.fastForward("02:00");
    await page.getByRole("link", { name: "Models", exact: true }).click();
    await page.getByText("You no longer act for lab").waitFor();
    await soon(() => menu(page).getByText("For lab").count()).toBe(0);
  });
});

test("a member acts for a team in one tab, sees what is its own there, and leaves", async ({ gantry, pageOf }) => {
  const page = await pageOf((await labOf(gantry)).mark);
  await page.goto("/console/");
  const own = await entries(page);
  expect(own).toEqual(expect.arrayContaining(["Providers", "Secrets", "Teams"]));
  const other = await page.context().newPage();
  await other.goto("/console/keys");
  await rowOf(other, "API keys", "private-key").waitFor();

  await act(page, "lab (team)");
  await menu(page).getByText("For lab, as member").waitFor();
  // Administration of the team is hidden from a plain member.
  expect(await entries(page)).toEqual(own.filter((entry) => !["Providers", "Secrets", "Activity"].includes(entry)));
  await page.goto("/console/models");
  await page.getByRole("list", { name: "Models" }).getByText("Shared model").waitFor();
  expect(await page.getByText("Own model").count()).toBe(0);
  expect(await page.getByRole("link", { name: "Connect a model" }).count()).toBe(0);
  for (const [path, refused] of [
    ["aliases", "New alias"],
    ["tool-servers", "Connect server"],
    ["identity", "Connect tenant"],
    ["sessions", "Export data"],
  ] as const) {
    await page.goto(`/console/${path}`);
    await page.getByText(/^No (aliases yet|tool servers yet|tenant connected)$|This session/).waitFor();
    expect(await page.getByRole("button", { name: refused }).count(), refused).toBe(0);
  }
  await page.goto("/console/keys");
  await rowOf(page, "API keys", "of-mark").waitFor();
  expect(await page.getByText("of-olga").count()).toBe(0);
  expect(await page.getByText("private-key").count()).toBe(0);
  await page.goto("/console/usage");
  await soon(() => figure(page, "Requests").innerText()).toMatch(/^1\b/);
  await page.goto("/console/money");
  await page.getByText("Balance of the team, and your own spending.").waitFor();
  await page.getByText("$0.03").first().waitFor();
  await page.getByRole("figure", { name: "Spending, last 30 days" }).locator("canvas").waitFor();
  expect(await page.getByRole("table", { name: "Transactions" }).count()).toBe(0);

  // The other tab still acts for the person, also after a reload.
  await other.reload();
  await rowOf(other, "API keys", "private-key").waitFor();
  expect(await actingFor(other).inputValue()).toBe("");
  await other.goto("/console/usage");
  await soon(() => figure(other, "Requests").innerText()).toMatch(/^3\b/);

  await page.goto("/console/teams/lab");
  await rowOf(page, "Members", "mark").getByRole("button", { name: "Leave" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await soon(() => menu(page).getByText("For lab").count()).toBe(0);
  await soon(() => entries(page)).toEqual(own);
  expect(await actingFor(page).count()).toBe(0);
  await page.goto("/console/keys");
  await rowOf(page, "API keys", "private-key").waitFor();
});
