import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface EchoChat {
  url: string;
  /** How often each text was asked. */
  readonly asked: Map<string, number>;
  /** The most calls that were open at once. */
  readonly mostOpen: number;
  /** Called before each answer. */
  pause(text: string): Promise<void>;
  close(): Promise<void>;
}

interface Request {
  stream?: boolean;
  messages: { content: string }[];
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** An OpenAI-compatible chat server that repeats the last message. A text with `fail` gets a 400. */
export async function startEchoChat(): Promise<EchoChat> {
  const asked = new Map<string, number>();
  let open = 0;
  let mostOpen = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.on("close", () => {
      open -= 1;
    });
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { stream = false, messages } = JSON.parse(body) as Request;
    const text = messages.at(-1)?.content ?? "";
    asked.set(text, (asked.get(text) ?? 0) + 1);
    await chat.pause(text);
    if (!response.destroyed) answer(response, text, stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const chat: EchoChat = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    get mostOpen() {
      return mostOpen;
    },
    pause: async () => {},
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return chat;
}

function answer(response: ServerResponse, text: string, isStreamed: boolean): void {
  if (text.includes("fail")) {
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"refused by the model"}}');
    return;
  }
  const content = `echo ${text}`;
  if (!isStreamed) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    const whole = { id: "c-1", object: "chat.completion", created: 1, model: "m", choices, usage };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
    return;
  }
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ id: "c-1", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] }));
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`);
}
