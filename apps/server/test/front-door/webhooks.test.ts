import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { waitFor } from "../support/wait-for.ts";

let gantry: GantryNode;
const at = "/api/v1/gantry/image";
const received: { id: string; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  received.push({ id: String(request.headers["webhook-id"]), body });
  response.end();
});
let hook: string;

beforeAll(async () => {
  gantry = await startGantry();
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await gantry.close();
  receiver.close();
});

const accept = (webhook: object) =>
  gantry.call("POST", `${at}/predict/async/`, {
    form: { prompt: "a bridge", size: "1280x720", webhook: JSON.stringify(webhook) },
  });

describe("an address that is too long once it is encoded", () => {
  test.each([
    ["by its parameters", "query_params", { url: "/q", query_params: { big: "a".repeat(8192) } }],
    ["by itself", "url", { url: `/${"ü".repeat(1500)}` }],
  ])("is refused at the door: %s", async (_, field, { url, ...more }) => {
    const refused = await accept({ url: hook + url, ...more });
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body.detail).toMatchObject([
      { type: "string_too_long", loc: ["body", "webhook", field], ctx: { max_length: 8192 } },
    ]);
  });

  test("is sent where it just fits", async () => {
    const fitting = 8192 - `${hook}/q?big=`.length;
    const accepted = await accept({ url: `${hook}/q`, query_params: { big: "a".repeat(fitting) } });
    expect(accepted.status, accepted.text).toBe(200);
    await waitFor("the delivery", () => received.some(({ body }) => body.includes(accepted.body.prediction_id)));
    const over = await accept({ url: `${hook}/q`, query_params: { big: "a".repeat(fitting + 1) } });
    expect(over.status).toBe(422);
  });
});
