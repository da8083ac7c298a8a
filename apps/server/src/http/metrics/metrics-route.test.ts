import { afterAll, beforeAll, expect, test } from "vitest";
import { fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import { createServer } from "../foundation/server.ts";
import { metricsRoute } from "./metrics-route.ts";

const figures = "gantry_info 1\n";
const app = createServer({ log: createLog("silent"), publicUrl: undefined });

beforeAll(async () => {
  await app.register(metricsRoute, {
    exposition: async () => figures,
    callerOf: () => Promise.reject(fault("unauthorized", "Invalid key")),
    isOpen: true,
    key: undefined,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

test("has two spellings, which a proxy can keep from the world, and no third", async () => {
  const statusOf = async (url: string) => (await app.inject({ method: "GET", url })).statusCode;
  for (const url of ["/metrics", "/metrics/", "/metrics?a=1", "/metrics/?a=1"]) {
    expect((await app.inject({ method: "GET", url })).body, url).toBe(figures);
  }
  for (const url of [
    "/%6detrics",
    "/metric%73",
    "/metric%73/",
    "/%6Detrics/?a=1",
    "//metrics",
    "/metrics//",
    "/METRICS",
  ]) {
    expect(await statusOf(url), url).toBe(404);
  }
});
