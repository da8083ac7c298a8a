/**
 * An OpenAI-compatible mock of an agent's model: five answers with some text and a tool call, then a final answer, all
 * streamed word by word. GET is the address of the tool.
 */
import { createServer } from "node:http";

const words = Number(process.env.WORDS ?? 40);
const turns = 5;
const frame = (data: string) => `data: ${data}\n\n`;
const common = `"id":"chatcmpl-ID","object":"chat.completion.chunk","created":1760000000,"model":"mock"`;
const choice = (delta: string, reason = "null") =>
  frame(`{${common},"choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}`);
const usage = frame(
  `{${common},"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":${words},"total_tokens":160}}`,
);
const text = Array.from({ length: words }, (_, n) => choice(`{"content":"word${n} "}`));
const end = (reason: string) => `${choice("{}", `"${reason}"`)}${usage}${frame("[DONE]")}`;

let answers = 0;

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "application/json" }).end('{"weather":"fine","degrees":21}');
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { messages, tools } = JSON.parse(Buffer.concat(chunks).toString()) as {
      messages: { role: string }[];
      tools?: { function: { name: string } }[];
    };
    const made = messages.filter((message) => message.role === "tool").length;
    const name = tools?.[0]?.function.name;
    // Some libraries treat two answers with the same id as one message.
    const id = `chatcmpl-${++answers}`;
    const send = (piece: string) => response.write(piece.replaceAll("chatcmpl-ID", id));
    response.writeHead(200, { "content-type": "text/event-stream" });
    send(choice('{"role":"assistant","content":""}'));
    for (const piece of text) send(piece);
    if (made < turns && name !== undefined) {
      const url = `http://${request.headers.host}/tool/${made}`;
      const args = JSON.stringify(JSON.stringify({ method: "GET", url }));
      send(
        choice(
          `{"tool_calls":[{"index":0,"id":"call_${made}","type":"function","function":{"name":"${name}","arguments":${args}}}]}`,
        ),
      );
      send(end("tool_calls"));
    } else send(end("stop"));
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`the mock listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
});
