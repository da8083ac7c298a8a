import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { GantryNode } from "../../server/test/support/gantry.ts";
import { rawApp, statusAtMcp } from "../../server/test/support/oauth-app.ts";
import { test } from "./support/console-test.ts";
import { toast } from "./support/on-page.ts";

/** Where the app receives its answer. */
const app = createServer((_request, response) => {
  response.setHeader("content-type", "text/html").end("<!doctype html><title>App</title><h1>Back in the app</h1>");
});
let redirect_uri: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  redirect_uri = `http://127.0.0.1:${(app.address() as AddressInfo).port}/done`;
});
afterAll(() => {
  app.closeAllConnections();
  app.close();
});

/** `1e3` is a number for the console's router, and must come back as it was sent. */
const newApp = async (gantry: GantryNode, name: string) => {
  const made = await rawApp(gantry, { client_name: name, redirect_uris: [redirect_uri] });
  return { ...made, url: made.link({ redirect_uri, state: "1e3" }).href };
};

async function answerIn(page: Page): Promise<URLSearchParams> {
  await page.getByRole("heading", { name: "Back in the app" }).waitFor();
  return new URL(page.url()).searchParams;
}

test("a person signs in, reads who asks, allows less than everything, and revokes later", async ({
  gantry,
  visitor,
}) => {
  const key = await gantry.newUser("olga");
  const asking = await newApp(gantry, "Helper <b>app</b>");
  await visitor.goto(asking.url);
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  await visitor.getByLabel("API key").fill(key);
  await visitor.getByRole("button", { name: "Sign in" }).click();
  await visitor.getByRole("heading", { name: "Allow “Helper <b>app</b>” to use Gantry as olga?" }).waitFor();
  await visitor.getByText(new URL(redirect_uri).host).waitFor();
  const chosen = visitor.getByRole("list", { name: "Models" });
  await chosen.getByText("gantry/text").waitFor();
  const offered = await chosen.locator("code").allInnerTexts();
  expect(offered).toContain("gantry/image");
  for (const name of offered.filter((one) => one !== "gantry/text")) {
    await chosen.getByRole("button", { name: `Remove ${name}`, exact: true }).click();
  }
  await visitor.getByLabel("Monthly limit ($)").fill("x");
  await visitor.getByRole("button", { name: "Allow" }).click();
  await visitor.getByText("Must be an amount in dollars").waitFor();
  await visitor.getByLabel("Monthly limit ($)").fill("2.5");
  await visitor.getByRole("button", { name: "Allow" }).click();
  const answer = await answerIn(visitor);
  expect([answer.get("state"), answer.get("iss")]).toEqual(["1e3", gantry.url]);
  const { body } = await asking.exchange(answer.get("code") ?? "", { redirect_uri });
  expect(await statusAtMcp(gantry, body.access_token)).toBe(200);

  await visitor.goto(`${gantry.url}/console/keys`);
  const row = visitor.getByRole("row").filter({ hasText: "Connected app" });
  await row.getByText("Helper <b>app</b>").waitFor();
  expect(await row.innerText()).toContain("gantry/text");
  expect(await row.getByRole("button", { name: /^Rotate/ }).count()).toBe(0);
  await row.getByRole("button", { name: /^Revoke/ }).click();
  await visitor.getByRole("dialog").getByText("To use it again, connect it again").waitFor();
  await visitor.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await toast(visitor, "revoked").waitFor();
  expect(await statusAtMcp(gantry, body.access_token)).toBe(401);
});

test("a person who denies returns to the app with an error", async ({ gantry, page }) => {
  const asking = await newApp(gantry, "Unwanted");
  await page.goto(asking.url);
  await page.getByRole("button", { name: "Deny" }).click();
  const answer = await answerIn(page);
  expect([answer.get("error"), answer.get("state"), answer.get("code")]).toEqual(["access_denied", "1e3", null]);
});

test("a limited key cannot connect apps, and an invalid request shows why", async ({ gantry, page, pageOf }) => {
  await gantry.newUser("max");
  const limited = await gantry.call("POST", "/api/v2/admin/users/max/keys", { json: { models: ["gantry/text"] } });
  const asking = await newApp(gantry, "Refused");
  const confined = await pageOf(limited.body.key);
  await confined.goto(asking.url);
  await confined.getByRole("alert").getByText("cannot connect apps").waitFor();
  expect(await confined.getByRole("button", { name: "Allow" }).count()).toBe(0);
  await page.goto(
    `/console/authorize?request=${encodeURIComponent("client_id=oac_1&redirect_uri=https://evil.example")}`,
  );
  await page.getByRole("alert").getByText("This app is not registered here").waitFor();
  await page.goto("/console/authorize");
  await page.getByText("Nothing to approve").waitFor();
});
