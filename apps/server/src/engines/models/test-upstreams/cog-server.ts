import { setTimeout as sleep } from "node:timers/promises";
import { type CogVersion, type CogVersionName, cogVersions } from "./cog-versions.ts";
import { fileReply, type MediaServer } from "./image-servers.ts";
import { jsonReply, type Reply, type Seen, startScripted } from "./scripted-server.ts";

export interface CogServer extends MediaServer {
  /** Output of a prediction instead of a file; a function gets its input. */
  output: unknown;
  /** Published at `/openapi.json`. */
  openapi: unknown;
  events: CogVersion["events"];
  /** Between two chunks. */
  chunkMs: number;
  /** `STARTING` and `SETUP_FAILED` refuse predictions; undefined is a server without a health check. */
  health: string | undefined;
  /** Predictions at once; more are refused. */
  slots: number;
  required: readonly string[];
  /** Reported instead of the measured time of the run. */
  predictSeconds: unknown;
  /** Time of a run that is not streamed. */
  runMs: number;
  /** Ids of the predictions that were cancelled while they ran. */
  readonly cancelled: readonly string[];
}

/** A predictor that raises, or whose output does not fit its type. */
export class CogFault {
  readonly #status: 200 | 500;

  constructor(status: 200 | 500) {
    this.#status = status;
  }

  reply(answer: object): Reply {
    const failed = { ...answer, error: "boom", status: "failed" };
    return jsonReply(this.#status === 200 ? failed : { detail: "value is not a valid integer" }, this.#status);
  }
}

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Like the named version of Cog: nulls are refused, failures are 200s, output files are data URIs. */
export async function startCog(version: CogVersionName = "coglet"): Promise<CogServer> {
  const answers: CogVersion = cogVersions[version];
  const running = new Map<string, AbortController>();
  const cancelled: string[] = [];
  const own = {
    made: { bytes: Buffer.alloc(0), type: "image/png", as: "base64" } as MediaServer["made"],
    output: undefined as unknown,
    openapi: undefined as unknown,
    events: answers.events,
    chunkMs: 0,
    health: "READY" as string | undefined,
    slots: Number.POSITIVE_INFINITY,
    required: [] as readonly string[],
    predictSeconds: undefined as unknown,
    runMs: 0,
    cancelled,
  };

  async function* chunks(id: string, output: readonly unknown[]) {
    const begun = performance.now();
    yield ": keep-alive\n\n";
    yield event("start", { id, status: "processing" });
    for (const [index, chunk] of output.entries()) {
      yield event("log", { source: "stdout", data: "thinking" });
      yield event("output", { chunk, index });
      if (cog.chunkMs > 0) await sleep(cog.chunkMs);
    }
    const metrics = { predict_time: cog.predictSeconds ?? (performance.now() - begun) / 1000 };
    yield event("metric", { name: "predict_time", value: metrics.predict_time, mode: "replace" });
    yield event("completed", { id, status: "succeeded", output, logs: "", metrics });
  }

  function issuesOf(input: Record<string, unknown>): object[] {
    const at = (name: string) => ["body", "input", name];
    const nulls = Object.keys(input).filter((name) => input[name] === null);
    const missing = cog.required.filter((name) => !Object.hasOwn(input, name));
    return [
      ...nulls.map((name) => ({ loc: at(name), msg: "none is not an allowed value", type: "value_error" })),
      ...missing.map((name) => ({ loc: at(name), msg: "Field required", type: answers.missing })),
    ];
  }

  async function predict(seen: Seen): Promise<Reply> {
    const { id, input } = JSON.parse(seen.body.toString("utf8")) as { id: string; input: Record<string, unknown> };
    const detail = issuesOf(input);
    if (detail.length > 0) return jsonReply({ detail }, 422);
    if (cog.health === "STARTING") return jsonReply(answers.starting.body, answers.starting.status);
    if (cog.health === "SETUP_FAILED") return jsonReply(answers.setupFailed.body, answers.setupFailed.status);
    if (running.size >= cog.slots) return jsonReply(answers.busy.body, answers.busy.status);
    if (seen.headers.accept === "text/event-stream" && cog.events === "none") {
      return jsonReply({ error: "This model does not support streaming responses." }, 406);
    }
    if (seen.headers.accept === "text/event-stream" && cog.events === "yes") {
      const output = Array.isArray(cog.output) ? cog.output : [];
      return { status: 200, headers: { "content-type": "text/event-stream" }, body: chunks(id, output) };
    }
    return run(id, input);
  }

  async function run(id: string, input: Record<string, unknown>): Promise<Reply> {
    const stop = new AbortController();
    const begun = { at: performance.now(), date: new Date() };
    running.set(id, stop);
    const runMs = typeof input.seconds === "number" ? input.seconds * 1000 : cog.runMs;
    if (runMs > 0) await sleep(runMs, undefined, { signal: stop.signal }).catch(() => {});
    running.delete(id);
    const times = { started_at: begun.date.toISOString(), completed_at: new Date().toISOString() };
    const metrics = { predict_time: cog.predictSeconds ?? (performance.now() - begun.at) / 1000 };
    const answer = { id, ...(answers.hasTimes && times), logs: "", metrics };
    if (stop.signal.aborted) return jsonReply({ ...answer, status: "canceled" });
    const { bytes, type, as } = cog.made;
    const file = as === "base64" ? `data:${type};base64,${bytes.toString("base64")}` : `${server.url}/files/out.png`;
    const output = typeof cog.output === "function" ? cog.output(input) : cog.output;
    if (output instanceof CogFault) return output.reply(answer);
    return jsonReply({ ...answer, output: output ?? file, status: "succeeded" });
  }

  function cancel(id: string): Reply {
    running.get(id)?.abort();
    if (running.has(id)) cancelled.push(id);
    return jsonReply({}, running.has(id) ? 200 : 404);
  }

  const answer = (seen: Seen): Reply | Promise<Reply> => {
    if (seen.path.startsWith("/files/")) return fileReply(cog.made);
    if (seen.path === "/openapi.json" && cog.openapi) return jsonReply(cog.openapi);
    if (seen.path === "/health-check" && cog.health) return jsonReply({ status: cog.health, setup: {} });
    const cancelledId = /^\/predictions\/([^/]+)\/cancel$/.exec(seen.path)?.[1];
    if (cancelledId !== undefined) return cancel(cancelledId);
    if (seen.path === "/predictions" && seen.method === "POST") return predict(seen);
    return jsonReply({ detail: "Not Found" }, 404);
  };
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = (seen: Seen): Promise<Reply> => {
    const result = before.then(() => answer(seen));
    before = result.catch(() => {});
    return result;
  };
  const server = await startScripted(answers.blocks ? inTurn : answer);
  const cog: CogServer = Object.assign(server, own);
  return cog;
}
