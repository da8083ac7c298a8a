import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

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
  ])("is refused at admission: %s", async (_, field, { url, ...more }) => {
    const refused = await accept({ url: hook + url, ...more });
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body.detail).toMatchObject([
      { type: "string_too_long", loc: ["body", "webhook", field], ctx: { max_length: 8192 } },
    ]);
  });

  test("is accepted if it just fits", async () => {
    const fitting = 8192 - `${hook}/q?big=`.length;
    const accepted = await accept({ url: `${hook}/q`, query_params: { big: "a".repeat(fitting) } });
    expect(accepted.status, accepted.text).toBe(200);
    await waitFor("the delivery", () => received.some(({ body }) => body.includes(accepted.body.prediction_id)));
    const over = await accept({ url: `${hook}/q`, query_params: { big: "a".repeat(fitting + 1) } });
    expect(over.status).toBe(422);
  });
});

test("a late retry carries fresh links and is otherwise unchanged", async () => {
  const { sql } = gantry.database;
  const id = (await accept({ url: hook })).body.prediction_id;
  const arrived = () => received.filter(({ body }) => body.includes(id));
  await waitFor("the delivery", () => arrived().length === 1);
  const first = JSON.parse(arrived()[0]?.body ?? "");
  expect(first.files.image.url).toContain("X-Amz-Signature");
  const resend = async () => {
    await waitFor("its end", async () => {
      const { results } = (await gantry.call("GET", `/api/v2/webhooks/deliveries?prediction_id=${id}`)).body;
      return results[0].status === "delivered";
    });
    const before = arrived().length;
    await gantry.call("POST", `/api/v2/webhooks/deliveries/${arrived()[0]?.id}/resend`);
    await waitFor("the delivery once more", () => arrived().length === before + 1);
    return arrived().at(-1) as (typeof received)[number];
  };
  expect((await resend()).body).toBe(arrived()[0]?.body);

  // A test cannot wait for a day, so it ages the links of the stored payload.
  await sql`
    update webhook_deliveries set created_at = created_at - interval '25 hours',
      payload = regexp_replace(payload, 'X-Amz-Date=[0-9]{8}', 'X-Amz-Date=20200101')
    where prediction_id = ${id}`;
  const late = await resend();
  expect(late.id).toBe(arrived()[0]?.id);
  const again = JSON.parse(late.body);
  expect((await fetch(again.files.image.url)).status).toBe(200);
  expect(new URL(again.files.image.url).origin).toBe(gantry.url);
  const { url } = again.files.image;
  expect(late.body).toBe(JSON.stringify({ ...first, files: { image: { ...first.files.image, url } } }));
});
