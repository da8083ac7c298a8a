import { afterAll, beforeAll, expect } from "vitest";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../server/test/support/scripted-llm.ts";
import { test } from "./support/console-test.ts";
import { putAgent, putModel, textModel } from "./support/fixtures.ts";
import { soon } from "./support/on-page.ts";

let llm: ScriptedLlm;
beforeAll(async () => {
  llm = await startScriptedLlm();
});
afterAll(() => llm.close());

const asking = { type: "tool", id: "run_javascript", confirm: "always" };

test("a notification tells a person elsewhere, once they asked for it", async ({ gantry, page, visit }) => {
  await putModel(gantry, "llm", textModel(llm.url));
  const agent = await putAgent(gantry, { name: "Asker", model: "admin/llm", tools: [asking] });
  llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "1" } }] });
  await visit.context.grantPermissions(["notifications"]);
  // The page counts as being in the background, and what it would show is recorded.
  await page.addInitScript(`
    window.told = [];
    document.hasFocus = () => false;
    const Real = Notification;
    window.Notification = class { constructor(title, options) { window.told.push([title, options.body]); } close() {} };
    Object.defineProperty(Notification, "permission", { get: () => Real.permission });
    Notification.requestPermission = () => Real.requestPermission();
  `);
  await page.clock.install();
  await page.goto("/console/approvals");
  await page.getByText("Nothing needs your answer").waitFor();
  const start = () => gantry.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, wait: 30 } });
  const waiting = (count: number) => soon(() => page.title()).toMatch(new RegExp(`^\\(${count}\\) `));
  await start();
  await page.clock.fastForward(10_000);
  await waiting(1);
  expect(await page.evaluate("window.told")).toEqual([]);

  await page.getByRole("button", { name: "Notify me" }).click();
  await page.getByRole("button", { name: "Turn off notifications" }).waitFor();
  await start();
  await page.clock.fastForward(10_000);
  await waiting(2);
  expect(await page.evaluate("window.told")).toEqual([["Approval needed", "Asker wants to call run_javascript."]]);
});

test("the whole console asks for questions once in ten seconds, and not when signed out", async ({ page }) => {
  await page.clock.install();
  let asked = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/v1/confirmations") asked++;
  });
  const elapse = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      await page.clock.runFor(1_000);
    }
  };
  await page.goto("/console/runs");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await soon(() => asked).toBe(1);
  await elapse(61);
  await soon(() => asked).toBeGreaterThanOrEqual(6);
  expect(asked).toBeLessThanOrEqual(8);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/sign-in/);
  const before = asked;
  await elapse(31);
  expect(asked).toBe(before);
  expect(await page.title()).toBe("Sign in · Gantry");
});
