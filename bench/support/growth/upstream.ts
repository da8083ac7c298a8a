import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * Backends of the models of a benchmark: Cog at `/instant` and `/slow`, which answers when told to, and a chat model at
 * `/v1` that calls its first tool, or answers without tools. `/ok` accepts anything, such as webhooks.
 */
export interface GrowthUpstream {
  url: string;
  /** Answers the oldest request to `/slow`, once there is one. */
  releaseOne(): Promise<void>;
  /** Resolves at the next request to this path. */
  nextRequest(path: string): Promise<void>;
  /** Ids that `/v1/models` lists. */
  models: string[];
  close(): Promise<void>;
}

const done = JSON.stringify({ id: "x", status: "succeeded", output: "done", metrics: { predict_time: 0 } });

export async function startUpstream(): Promise<GrowthUpstream> {
  const held: ServerResponse[] = [];
  const waiting = new Map<string, () => void>();
  const models: string[] = [];
  const server = createServer(async (request, response) => {
    const body = String(await buffer(request));
    const path = `/${(request.url ?? "").split("/")[1]}`;
    if (path === "/slow") held.push(response);
    else answer(response, path === "/v1" ? chat(request.url ?? "", body) : done);
    waiting.get(path)?.();
    waiting.delete(path);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const nextRequest = (path: string): Promise<void> => new Promise((resolve) => waiting.set(path, resolve));

  function answer(response: ServerResponse, text: string): void {
    const type = text.startsWith("data:") ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
  }

  function chat(url: string, body: string): string {
    if (url.endsWith("/models"))
      return JSON.stringify({ object: "list", data: models.map((id) => ({ id, object: "model" })) });
    const { tools } = JSON.parse(body) as { tools?: { function: { name: string } }[] };
    const tool = tools?.find(({ function: { name } }) => name === "http_request")?.function.name;
    const args = JSON.stringify({
      method: "POST",
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ok`,
    });
    const call = { index: 0, id: "call_1", type: "function", function: { name: tool, arguments: args } };
    const message = tool ? { role: "assistant", tool_calls: [call] } : { role: "assistant", content: "Fine." };
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...choice })}\n\n`;
    return [
      chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: tool ? "tool_calls" : "stop" }] }),
      chunk({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } }),
      "data: [DONE]\n\n",
    ].join("");
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    models,
    nextRequest,
    async releaseOne() {
      if (held.length === 0) await nextRequest("/slow");
      const response = held.shift();
      if (response) answer(response, done);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
