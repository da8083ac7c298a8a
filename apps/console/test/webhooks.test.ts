import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { test } from "./support/console-test.ts";
import { rowOf, soon } from "./support/on-page.ts";

let receiver: Server;
let hook: string;
const bodies: string[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    bodies.push(body);
    response.statusCode = bodies.length === 1 ? 500 : 200;
    response.end(bodies.length === 1 ? '{"error": "<b>not ready</b>"}' : "thanks");
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

test("a test event is sent, its attempts are shown, and it is sent again", async ({ page }) => {
  await page.goto("/console/webhooks");
  await page.getByRole("button", { name: "Send test event" }).click();
  const form = page.getByRole("dialog", { name: "Send test event" });
  await form.getByLabel("URL").fill(hook);
  await form.getByRole("button", { name: "Send" }).click();

  await page.getByRole("heading", { name: "Delivery", level: 1 }).waitFor();
  await page.getByText("Attempt 1").waitFor();
  await page.getByText("Gantry makes no further attempts.").waitFor();
  await page.getByText("Response body").click();
  await page.getByText("<b>not ready</b>").waitFor();
  await page.getByText('"test": true').waitFor();
  await page.getByText("content-type: application/json").waitFor();

  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByText("Attempt 2").waitFor();
  await page.getByText("The receiver answered with 2xx.").waitFor();
  expect(bodies[1]).toBe(bodies[0]);

  await page.getByRole("link", { name: "All deliveries" }).click();
  await rowOf(page, "Deliveries", hook).getByText("Delivered").waitFor();
  await rowOf(page, "Deliveries", hook).getByText("(test)").waitFor();
});

test("the delivery of a prediction leads to its page", async ({ gantry, page }) => {
  const { body } = await gantry.call("POST", "/api/v1/gantry/text/predict/async/", {
    form: { prompt: "hello", webhook: JSON.stringify({ url: hook }) },
  });
  await page.goto("/console/webhooks");
  await soon(() => rowOf(page, "Deliveries", hook).count()).toBe(2);
  await rowOf(page, "Deliveries", hook).first().getByRole("link").click();
  await page.getByText("Attempt 1").waitFor();
  await page.getByRole("link", { name: body.prediction_id }).click();
  await soon(() => new URL(page.url()).pathname).toBe(`/console/predictions/${body.prediction_id}`);
});
