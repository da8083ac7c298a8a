import { createServer } from "node:http";
import { Pool } from "undici";

export interface JobQueue {
  /** Resolves once the job is durable. */
  add(fields: unknown): Promise<string>;
}

const upstream = new Pool(`http://127.0.0.1:${process.env.UPSTREAM_PORT}`, { connections: 64 });

/** The same call as Gantry's model. */
export async function callUpstream(input: unknown): Promise<unknown> {
  const { body } = await upstream.request({
    method: "POST",
    path: "/predictions",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input }),
  });
  return ((await body.json()) as { output: unknown }).output;
}

const ended = new Set<string>();
const waiting = new Map<string, () => void>();

export function jobEnded(id: string): void {
  ended.add(id);
  waiting.get(id)?.();
  waiting.delete(id);
}

/**
 * A queue library as a bare service, without keys, limits, money or checks.
 *
 *   POST /            accepts a job, answers {id}
 *   GET  /result/<id> answers when it has ended
 *   GET  /ended       number of ended jobs
 */
export function serveJobs(queue: JobQueue): void {
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    const answer = (body: object) => {
      const text = JSON.stringify(body);
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    };
    if (request.method === "POST") {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      return answer({ id: await queue.add(JSON.parse(Buffer.concat(pieces).toString())) });
    }
    request.resume();
    if (path === "/ended") return answer({ ended: ended.size });
    const id = path.split("/")[2] ?? "";
    if (!ended.has(id)) await new Promise<void>((resolve) => waiting.set(id, resolve));
    answer({ id });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(`jobs listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
  });
}
