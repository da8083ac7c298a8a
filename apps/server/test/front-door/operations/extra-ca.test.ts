import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { selfSigned } from "../../../src/engines/net/self-signed.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** A model's backend with a certificate of the operator's own authority. */
const upstream = createServer(selfSigned, (request, response) => {
  request.resume().on("end", () => response.end(JSON.stringify({ status: "succeeded", output: "safe" })));
});
let room: string;
let caFile: string;

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-ca-"));
  caFile = join(room, "ca.pem");
  await writeFile(caFile, `# ours\n${selfSigned.cert}`);
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
});
afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await rm(room, { recursive: true });
});

async function predict(gantry: GantryNode) {
  const text = { type: "string" };
  const made = await gantry.call("PUT", "/api/v1/admin/safe", {
    json: {
      title: "safe",
      description: "Behind TLS.",
      kind: "other",
      visibility: "private",
      capacity: 1,
      pricing: {},
      input: { type: "object", required: ["prompt"], properties: { prompt: text } },
      output: { type: "object", required: ["output"], properties: { output: text } },
      backend: { type: "cog", url: `https://localhost:${(upstream.address() as AddressInfo).port}` },
    },
  });
  expect([200, 201], made.text).toContain(made.status);
  return gantry.call("POST", "/api/v1/admin/safe/predict", { form: { prompt: "x" } });
}

// Without it first: a process keeps a trusted authority until it ends.
test("a backend certified by GANTRY_EXTRA_CA is called only with that setting", async () => {
  const usual = await startGantry();
  try {
    const refused = await predict(usual);
    expect([refused.status, refused.body.detail[0].type]).toEqual([503, "downstream_service_unavailable"]);
  } finally {
    await usual.close();
  }
  const trusting = await startGantry({ env: { GANTRY_EXTRA_CA: caFile } });
  try {
    const answer = await predict(trusting);
    expect([answer.status, answer.body.output_data]).toEqual([200, { output: "safe" }]);
  } finally {
    await trusting.close();
  }
}, 60_000);

test("a missing, empty or invalid certificate file is reported at the start", async () => {
  const damaged = join(room, "damaged.pem");
  await writeFile(damaged, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const empty = join(room, "empty.pem");
  await writeFile(empty, "nothing here");
  for (const path of [join(room, "missing.pem"), damaged, empty]) {
    expect(() => readConfig({ GANTRY_EXTRA_CA: path }, room)).toThrow(`GANTRY_EXTRA_CA names ${path}, which`);
  }
});
