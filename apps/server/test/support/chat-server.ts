import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatServer {
  url: string;
  readonly open: number;
  readonly requests: Record<string, unknown>[];
  /** Sends text to every open call. */
  say(...words: string[]): void;
  end(usage?: { prompt_tokens: number; completion_tokens: number }): void;
  /** Breaks every open connection. */
  cut(): void;
  /** Bytes that slow clients have not read yet. */
  buffered(): number;
  close(): Promise<void>;
}

/** An OpenAI-compatible chat server that the test controls. */
export async function startChatServer(): Promise<ChatServer> {
  const open = new Set<ServerResponse>();
  const requests: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    requests.push(JSON.parse(text));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    if (!response.destroyed) open.add(response);
    response.on("close", () => open.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const send = (data: unknown) => {
    for (const response of open) response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get open() {
      return open.size;
    },
    requests,
    say: (...words) => {
      for (const word of words) send({ choices: [{ index: 0, delta: { content: word } }] });
    },
    end: (usage) => {
      send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      if (usage) send({ choices: [], usage });
      send("[DONE]");
      for (const response of open) {
        response.end();
        open.delete(response);
      }
    },
    cut: () => {
      for (const response of open) response.destroy();
    },
    buffered: () => [...open].reduce((sum, response) => sum + response.writableLength, 0),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
