import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { descriptionOf, soon, toast } from "./support/on-page.ts";

let llm: ScriptedLlm;
beforeAll(async () => {
  llm = await startScriptedLlm(() => ({ text: "Reported." }));
});
afterAll(() => llm.close());

const schedule = (page: Page, name: string) =>
  page.getByRole("list", { name: "Schedules" }).getByRole("listitem", { name, exact: true });

test("a schedule is created, run, paused, edited and deleted", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, {
    name: "Reporter",
    goal: "Report on {{topic}}.",
    input_schema: { type: "object", required: ["topic"], properties: { topic: { type: "string" } } },
    model: "admin/llm",
  });
  await page.goto(`/console/agents/${agent}?tab=schedules`);
  await page.getByText("No schedules yet").waitFor();
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog");
  expect(await descriptionOf(dialog.getByLabel("Cron expression"))).toContain("Every weekday at 9:00.");

  // What the server refuses is shown at the field.
  await dialog.getByLabel("Cron expression").fill("0 99 * * *");
  await dialog.getByRole("button", { name: "Create schedule" }).click();
  await dialog.getByText("This field is required").waitFor();
  await dialog.getByLabel("topic").fill("sales");
  await dialog.getByRole("button", { name: "Create schedule" }).click();
  await soon(() => dialog.getByLabel("Cron expression").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("When").selectOption("Every Monday at 9:00");
  await dialog.getByLabel("Time zone").selectOption("Asia/Tokyo");
  await dialog.getByLabel("Name").fill("Weekly sales");
  await dialog.getByLabel("Max cost per run ($)").fill("0.5");
  await dialog.getByRole("button", { name: "Create schedule" }).click();
  await toast(page, "Schedule created").waitFor();
  const weekly = schedule(page, "Weekly sales");
  await weekly.getByText("Active", { exact: true }).waitFor();
  await soon(() => weekly.getByRole("list", { name: "Next times" }).getByRole("listitem").count()).toBe(5);
  const first = await weekly.getByRole("list", { name: "Next times" }).getByRole("listitem").first().innerText();
  expect(first).toMatch(/^Mon.*9:00.*your time\)$/);

  await weekly.getByRole("button", { name: "Run now: Weekly sales" }).click();
  await toast(page, "Run started").waitFor();
  await weekly.getByRole("link", { name: "View run" }).click();
  await page.getByRole("tabpanel").getByText("Reported.").waitFor();
  await page.getByRole("link", { name: "Schedule", exact: true }).click();
  await weekly.waitFor();

  await weekly.getByRole("button", { name: "Pause Weekly sales" }).click();
  await weekly.getByText("Off", { exact: true }).waitFor();
  await page.goto("/console/automations");
  await weekly.getByRole("link", { name: "Reporter" }).waitFor();
  await weekly.getByRole("button", { name: "Resume Weekly sales" }).click();
  await weekly.getByText("Active", { exact: true }).waitFor();

  await weekly.getByRole("button", { name: "Edit Weekly sales" }).click();
  expect(await dialog.getByLabel("topic").inputValue()).toBe("sales");
  await dialog.getByLabel("Name").fill("Sales");
  await dialog.getByRole("button", { name: "Save" }).click();
  await toast(page, "Schedule saved").waitFor();
  const [stored] = (await gantry.call("GET", "/v1/schedules")).body.schedules;
  expect(stored).toMatchObject({
    name: "Sales",
    cron: "0 9 * * MON",
    timezone: "Asia/Tokyo",
    input: { topic: "sales" },
    max_cost: 0.5,
  });
  await schedule(page, "Sales").getByRole("button", { name: "Delete Sales" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No schedules yet").waitFor();
}, 120_000);

test("editing a schedule keeps input that the form does not show", async ({ gantry, page }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const properties = { topic: { type: "string" }, tags: { type: "array", items: { type: "string" } } };
  const agent = await putAgent(gantry, { name: "Keeper", input_schema: { properties }, model: "admin/llm" });
  const input = { topic: "sales", tags: ["two\nlines"], region: "north" };
  const json = { name: "Keep", cron: "0 3 * * *", input };
  const made = await gantry.call("POST", `/v1/agents/${agent}/schedules`, { json });
  expect(made.status, made.text).toBe(201);
  await page.goto(`/console/agents/${agent}?tab=schedules`);
  const dialog = page.getByRole("dialog");
  const edit = async (name: string, label: string, text: string) => {
    await schedule(page, name)
      .getByRole("button", { name: `Edit ${name}` })
      .click();
    await dialog.getByLabel(label).fill(text);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    return (await gantry.call("GET", `/v1/schedules/${made.body.id}`)).body;
  };
  expect(await edit("Keep", "Name", "Kept")).toMatchObject({ name: "Kept", input });
  expect((await edit("Kept", "topic", "boats")).input).toEqual({ ...input, topic: "boats" });
});

test("a schedule of another user's agent asks again when the price changes", async ({ gantry, pageOf }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const [maker, buyer] = [await gantry.newUser("price-maker"), await gantry.newUser("price-buyer")];
  const agent = await putAgent(
    gantry,
    { name: "Sold", model: "admin/llm", visibility: "public", pricing: { per_run: 0.2 } },
    maker,
  );
  const made = await gantry.call("POST", `/v1/agents/${agent}/schedules`, {
    key: buyer,
    json: { name: "Nightly", cron: "0 3 * * *", input: {}, expected_price: 0.2 },
  });
  expect(made.status, made.text).toBe(201);
  await gantry.call("PATCH", `/v1/agents/${agent}`, { key: maker, json: { pricing: { per_run: 0.3 } } });
  await gantry.call("POST", `/v1/agents/${agent}/publish`, { key: maker, json: {} });
  const page = await pageOf(buyer);
  const stored = async () => (await gantry.call("GET", "/v1/schedules", { key: buyer })).body.schedules[0];
  await page.goto("/console/automations");
  await schedule(page, "Nightly").getByText("Each run now costs $0.30").waitFor();
  await schedule(page, "Nightly").getByRole("button", { name: "Accept $0.30" }).click();
  await toast(page, "Price accepted").waitFor();
  expect(await stored()).toMatchObject({ expected_price: 0.3, enabled: true });

  // Edited input is not lost by a click beside the dialog or by Escape.
  await schedule(page, "Nightly").getByRole("button", { name: "Edit Nightly" }).click();
  const name = page.getByRole("dialog", { name: "Edit schedule" }).getByLabel("Name");
  await name.fill("Every night");
  await page.mouse.click(5, 5);
  await name.press("Escape");
  await page.getByRole("button", { name: "Keep editing" }).click();
  expect(await name.inputValue()).toBe("Every night");
  await name.press("Escape");
  await page.getByRole("button", { name: "Discard" }).click();
  await soon(() => page.getByRole("dialog").count()).toBe(0);
  expect(await stored()).toMatchObject({ name: "Nightly" });
});
