import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";

/** A model's owner sees the status of a refusing upstream, and none of its text. */
const platform = useRunsPlatform();
let status = 500;
const said = "no-one-may-read-this";
const vendor = createServer((request, response) => {
  request.resume();
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: said, type: "invalid_request_error" } }));
});

beforeAll(async () => {
  vendor.listen(0, "127.0.0.1");
  await once(vendor, "listening");
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  await platform.makeModel("refusing-chat", { backend: { type: "openai-chat", url, model: "m" } });
  await platform.makeModel("refusing-cog", {
    kind: "other",
    context_window: undefined,
    pricing: undefined,
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url },
  });
});
afterAll(() => {
  vendor.closeAllConnections();
  vendor.close();
});

const refusals: [status: number, sentence: string][] = [
  [401, "refused the credential (status 401). Check the secret named in the manifest."],
  [403, "refused the credential (status 403). Check the secret named in the manifest."],
  [404, "does not have this model or address (status 404). Check backend.model and backend.url."],
  [400, "refused the request (status 400)."],
  [500, "failed (status 500)."],
];

describe.each(refusals)("an upstream that answers %i", (given, sentence) => {
  const told = { type: "downstream_service_error", msg: `The service behind the model ${sentence}` };

  test("is reported by its status, sync and queued", async () => {
    status = given;
    const sync = await platform.gantry.call("POST", "/api/v1/admin/refusing-cog/predict", { form: { prompt: "x" } });
    expect(sync.status).toBe(502);
    expect(sync.body.detail).toMatchObject([{ ...told, ctx: { upstream_status: given } }]);
    const path = "/api/v1/admin/refusing-cog/predict/async";
    const queued = await platform.gantry.call("POST", path, { form: { prompt: "x" } });
    const ended = await platform.gantry.call("GET", `${path}/result?request_id=${queued.body.prediction_id}&wait=15`);
    expect(ended.text).toContain(`"upstream_status":${given}`);
    expect(sync.text + ended.text).not.toContain(said);
  });

  test("is reported by its status in a run and in a stream", async () => {
    status = given;
    const agent = await platform.makeAgent({ model: "admin/refusing-chat" });
    const { body, text } = await platform.run(agent);
    expect(body.error).toEqual({ type: "internal", message: `The model failed: ${told.msg}` });
    const path = "/api/v1/admin/refusing-chat/predict/stream/";
    const stream = await platform.gantry.call("POST", path, { form: { prompt: "x" } });
    expect(stream.text).toContain(told.msg);
    expect(text + stream.text).not.toContain(said);
  });
});

test("an overloaded upstream is reported by its status and is retryable", async () => {
  status = 429;
  const busy = await platform.gantry.call("POST", "/api/v1/admin/refusing-cog/predict", { form: { prompt: "x" } });
  expect([busy.status, busy.headers.get("x-service-retryable")]).toEqual([503, "true"]);
  expect(busy.body.detail).toMatchObject([{ type: "downstream_service_unavailable", ctx: { upstream_status: 429 } }]);
});
