import { fileReply, type MediaServer } from "./image-servers.ts";
import { jsonReply, type Reply, startScripted } from "./scripted-server.ts";

export interface CogServer extends MediaServer {
  /** Output of a prediction instead of a file. */
  output: unknown;
  /** `none`: 406; `old`: a server that ignores the accept header. */
  events: "yes" | "none" | "old";
  /** Between two chunks. */
  chunkMs: number;
  /** The reported `predict_time`. */
  predictSeconds: number | undefined;
  /** Before an answer that is not streamed. */
  delayMs: number;
}

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Behaves like coglet: nulls are refused, failures are 200s, output files are data URIs. */
export async function startCog(): Promise<CogServer> {
  const own = {
    made: { bytes: Buffer.alloc(0), type: "image/png", as: "base64" } as MediaServer["made"],
    output: undefined as unknown,
    events: "yes" as CogServer["events"],
    chunkMs: 0,
    predictSeconds: undefined as number | undefined,
    delayMs: 0,
  };

  const metrics = () => (cog.predictSeconds === undefined ? {} : { predict_time: cog.predictSeconds });

  async function* chunks(id: string, output: readonly unknown[]) {
    yield ": keep-alive\n\n";
    yield event("start", { id, status: "processing" });
    for (const [index, chunk] of output.entries()) {
      yield event("log", { source: "stdout", data: "thinking" });
      yield event("output", { chunk, index });
      if (cog.chunkMs > 0) await new Promise((resolve) => setTimeout(resolve, cog.chunkMs));
    }
    yield event("metric", { name: "predict_time", value: 0.1, mode: "replace" });
    yield event("completed", { id, status: "succeeded", output, logs: "", metrics: metrics() });
  }

  const server = await startScripted(async (seen): Promise<Reply> => {
    if (seen.path.startsWith("/files/")) return fileReply(cog.made);
    if (/^\/predictions\/[^/]+\/cancel$/.test(seen.path)) return jsonReply({});
    if (seen.path !== "/predictions" || seen.method !== "POST") return jsonReply({ detail: "Not Found" }, 404);
    const { id, input } = JSON.parse(seen.body.toString("utf8")) as { id: string; input: Record<string, unknown> };
    const nulls = Object.keys(input).filter((name) => input[name] === null);
    if (nulls.length > 0) {
      const detail = nulls.map((name) => ({ loc: ["body", "input", name], msg: "none", type: "value_error" }));
      return jsonReply({ detail }, 422);
    }
    if (seen.headers.accept === "text/event-stream" && cog.events === "none") {
      return jsonReply({ error: "The model does not stream" }, 406);
    }
    if (seen.headers.accept === "text/event-stream" && cog.events === "yes") {
      const output = Array.isArray(cog.output) ? cog.output : [];
      return { status: 200, headers: { "content-type": "text/event-stream" }, body: chunks(id, output) };
    }
    const { bytes, type, as } = cog.made;
    const file = as === "base64" ? `data:${type};base64,${bytes.toString("base64")}` : `${server.url}/files/out.png`;
    const output = cog.output ?? file;
    if (cog.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, cog.delayMs));
    return jsonReply({ id, output, logs: "", status: "succeeded", metrics: metrics() });
  });
  const cog: CogServer = Object.assign(server, own);
  return cog;
}
