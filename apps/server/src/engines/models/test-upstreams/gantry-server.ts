import { fileReply, type MediaServer } from "./image-servers.ts";
import { jsonReply, type Reply, startScripted } from "./scripted-server.ts";

export interface GantryServer extends MediaServer {
  /** Events of the stream route after the acknowledgement. */
  lines: unknown[];
  lineMs: number;
  streamingOnly: boolean;
}

/** Another Gantry server with the model `acme/painter`. */
export async function startGantry(key: string): Promise<GantryServer> {
  const own = {
    made: { bytes: Buffer.alloc(0), type: "image/png", as: "link" } as MediaServer["made"],
    lines: [] as unknown[],
    lineMs: 0,
    streamingOnly: false,
  };
  const base = "/api/v1/acme/painter";

  async function* stream() {
    for (const line of [{ prediction_id: "pred_remote" }, ...gantry.lines]) {
      yield `data: ${JSON.stringify(line)}\n\n: keep\n\n`;
      if (gantry.lineMs > 0) await new Promise((resolve) => setTimeout(resolve, gantry.lineMs));
    }
  }

  const server = await startScripted((seen): Reply => {
    if (seen.path.startsWith("/files/")) {
      return seen.headers["x-api-key"] ? jsonReply({ detail: "key leaked" }, 400) : fileReply(gantry.made);
    }
    if (seen.headers["x-api-key"] !== key) return jsonReply({ error: { code: "unauthorized", message: "no" } }, 401);
    if (seen.path === `${base}/predict/cancel/`) return jsonReply({ prediction_id: "pred_remote", status: 499 });
    if (!String(seen.headers["content-type"]).startsWith("multipart/form-data")) {
      return jsonReply({ detail: [{ loc: ["body", "prompt"], msg: "Field required", type: "missing", url: "" }] }, 422);
    }
    if (seen.path === `${base}/predict/stream/`) {
      return { status: 200, headers: { "content-type": "text/event-stream" }, body: stream() };
    }
    if (seen.path !== `${base}/predict`) return jsonReply({ detail: "Project not found", status_code: 404 }, 404);
    if (gantry.streamingOnly) return jsonReply({ detail: "Use the stream route", status_code: 421 });
    return jsonReply({
      prediction_id: "pred_remote",
      status: 200,
      output_data: { image: "s3://remote/made.png" },
      inference_time: 0.2,
      files: { image: { url: `${server.url}/files/made.png?X-Amz-Signature=1`, method: "GET", file_input: null } },
    });
  });
  const gantry: GantryServer = Object.assign(server, own);
  return gantry;
}
