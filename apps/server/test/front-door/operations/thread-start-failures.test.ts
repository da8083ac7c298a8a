import type { ForkOptions } from "node:child_process";
import type { WorkerOptions } from "node:worker_threads";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeVideo } from "../../../src/engines/media/video.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

const scripts = vi.hoisted(() => ({ areGone: true }));

/** As during an upgrade under a running server: a new thread or process does not find its file. */
vi.mock("node:worker_threads", async (original) => {
  const actual = await original<typeof import("node:worker_threads")>();
  class Worker extends actual.Worker {
    constructor(script: URL, options?: WorkerOptions) {
      super(scripts.areGone ? new URL(`${script.href}.gone`) : script, options);
    }
  }
  return { ...actual, Worker };
});

vi.mock("node:child_process", async (original) => {
  const actual = await original<typeof import("node:child_process")>();
  const fork = (script: string, options: ForkOptions) =>
    actual.fork(scripts.areGone ? `${script}.gone` : script, options);
  return { ...actual, fork };
});

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const errorLines = (script: string) =>
  gantry
    .logged()
    .split("\n")
    .filter((line) => line.includes(`of ${script} could not be started`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a thread or process that cannot start is not reported as a fault of the schema, file or prompt", async () => {
  const agent = { name: "A", goal: "G", tools: [], input_schema: { type: "object" } };
  const clip = new File([Uint8Array.from(await makeVideo({ format: "mp4", seconds: 3 }))], "a.mp4");
  const file = { type: "string", format: "binary", "x-media": "video", "x-max-duration": 1 };
  const model = {
    title: "Clips",
    kind: "other",
    visibility: "private",
    capacity: 1,
    input: { type: "object", properties: { clip: file }, required: ["clip"] },
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url: "http://127.0.0.1:9" },
  };
  expect((await gantry.call("PUT", "/api/v1/admin/clips", { json: model })).status).toBe(201);
  const make = () => gantry.call("POST", "/v1/agents", { json: agent });
  const watch = () => gantry.call("POST", "/api/v1/admin/clips/predict", { form: { clip } });
  const paint = (form: Record<string, string>) => gantry.call("POST", "/api/v1/gantry/image/predict", { form });

  const refused = await make();
  expect([refused.status, refused.body.error.type]).toEqual([503, "unavailable"]);
  expect(refused.headers.get("x-service-retryable")).toBe("true");
  const lines = errorLines("schemas.worker.ts");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({ level: 50, err: { message: expect.stringContaining("schemas.worker.ts.gone") } });

  const unseen = await watch();
  expect([unseen.status, unseen.headers.get("x-service-retryable")]).toEqual([503, "true"]);
  expect(errorLines("probe.worker.ts")).toHaveLength(2);

  const unpainted = await paint({ prompt: "a quiet harbour", size: "1280x720" });
  expect([unpainted.status, unpainted.headers.get("x-service-retryable")]).toEqual([503, "true"]);
  expect(errorLines("picture.process.ts")).toHaveLength(2);

  scripts.areGone = false;
  expect((await make()).status).toBe(201);
  expect((await watch()).body).toMatchObject({ detail: [{ type: "video_duration_too_long" }] });
  expect((await paint({ prompt: "a quiet harbour", size: "1280x720" })).status).toBe(200);
});
