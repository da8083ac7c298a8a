import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../../kernel/errors.ts";
import type { Net } from "../../net/net.ts";
import { createCog } from "../cog/cog.ts";
import { fetchCogSchema } from "../cog/schema.ts";
import type { FileInput, FileOutput, InputValue, ModelResult } from "../driver.ts";
import { hideNothing } from "../mask.ts";
import type { CogPredictorName } from "./cog-predictors.ts";

/** A server, real or scripted, that runs one predictor. */
export interface CogBench {
  url: string;
  net: Net;
  spoolFolder: string;
}

/** What a driver sees of one predictor. The same on every server. */
export interface CogCase {
  name: string;
  predictor: CogPredictorName;
  expected: unknown;
  /** The server reads no request while a prediction runs. */
  isSkippedIfBlocking?: boolean;
  run(bench: CogBench): Promise<unknown>;
}

let calls = 0;

async function predict(
  { url, net, spoolFolder }: CogBench,
  input: Record<string, InputValue>,
  signal = AbortSignal.timeout(60_000),
): Promise<{ output: unknown; chargedMs: number }> {
  const schemas = await fetchCogSchema(net, url);
  const driver = createCog({ net, url, spoolFolder, mask: hideNothing, ...schemas });
  const startedAt = performance.now();
  const result = await driver.run({
    predictionId: `pred_case_${process.pid}_${++calls}`,
    input,
    signal,
    onFragment() {},
  });
  return { output: await readable(result), chargedMs: performance.now() - startedAt - (result.waitedMs ?? 0) };
}

async function readable({ output }: ModelResult): Promise<unknown> {
  const value = Object.values(output)[0];
  if (!Array.isArray(value)) return value;
  return Promise.all(value.map((each) => (isFile(each) ? textOf(each) : each)));
}

const isFile = (value: unknown): value is FileOutput => typeof value === "object" && value !== null && "body" in value;
const textOf = async ({ body }: FileOutput) =>
  (body instanceof Uint8Array ? Buffer.from(body) : await buffer(body)).toString("utf8");

const file = (text: string): FileInput => ({
  kind: "file",
  contentType: "text/plain",
  size: text.length,
  filename: undefined,
  open: async () => Readable.from([Buffer.from(text)]),
});

/** Status, type and field of a failure. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof Fault)) return error;
  return error.issues.map(({ type, loc }) => [error.status, type, loc.join(".")].join(" ").trim());
}

export const cogCases: readonly CogCase[] = [
  {
    name: "a text",
    predictor: "text",
    expected: "hello!",
    run: async (bench) => (await predict(bench, { prompt: "hello", seconds: null })).output,
  },
  {
    name: "a required input that is not sent",
    predictor: "text",
    expected: ["422 missing body.prompt"],
    run: (bench) => failureOf(predict(bench, {})),
  },
  {
    name: "two at once, each charged for its own second",
    predictor: "text",
    expected: [
      ["a!", true],
      ["b!", true],
    ],
    run: (bench) =>
      Promise.all(
        ["a", "b"].map(async (prompt) => {
          const { output, chargedMs } = await predict(bench, { prompt, seconds: 1 });
          return [output, chargedMs > 900 && chargedMs < 1800];
        }),
      ),
  },
  {
    name: "a cancelled run frees the container",
    predictor: "text",
    isSkippedIfBlocking: true,
    expected: ["Interrupted", "next!", true],
    async run(bench) {
      const stop = new AbortController();
      const running = predict(bench, { prompt: "long", seconds: 40 }, stop.signal);
      await sleep(1500);
      stop.abort(new Error("left"));
      const error = await running.catch((thrown: Error) => thrown.name);
      const before = performance.now();
      const { output } = await predict(bench, { prompt: "next", seconds: null });
      return [error, output, performance.now() - before < 15_000];
    },
  },
  {
    name: "a list of files as input",
    predictor: "files",
    expected: "one two three",
    run: async (bench) => (await predict(bench, { photos: [file("one"), file("two")], one: file("three") })).output,
  },
  ...(["list", "iterator"] as const).map((predictor) => ({
    name: `files as output: ${predictor}`,
    predictor,
    expected: ["file 0", "file 1", "file 2"],
    run: async (bench: CogBench) => (await predict(bench, { count: 3 })).output,
  })),
  {
    name: "any output",
    predictor: "any",
    expected: [[1, "a"], 5, { a: [1] }],
    async run(bench) {
      const outputs: unknown[] = [];
      for (const how of ["list", "number", "object"]) outputs.push((await predict(bench, { how })).output);
      return outputs;
    },
  },
  {
    name: "a wrong output type and an exception, each run once",
    predictor: "counts",
    expected: [["502 downstream_service_error body"], ["502 downstream_service_error body"], 3],
    run: async (bench) => [
      await failureOf(predict(bench, { how: "wrong" })),
      await failureOf(predict(bench, { how: "raise" })),
      (await predict(bench, { how: "count" })).output,
    ],
  },
  {
    name: "setup in progress is waited for and not charged",
    predictor: "slow",
    expected: ["ready", true],
    async run(bench) {
      const { output, chargedMs } = await predict(bench, {});
      return [output, chargedMs < 500];
    },
  },
  {
    name: "a failed setup is reported at once",
    predictor: "broken",
    expected: "The setup of the model's container failed. Read its log, then restart the container.",
    async run(bench) {
      await setupEnded(bench);
      return predict(bench, {}).catch((error: Error) => error.message);
    },
  },
];

async function setupEnded({ url }: CogBench): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const health = (await (await fetch(`${url}/health-check`)).json()) as { status: string };
    if (health.status !== "STARTING") return;
    await sleep(100);
  }
}
