/**
 * The minimum cost of a gateway: node:http in, the form read at once, undici out, JSON back. Without keys, limits, money or
 * storage.
 */
import { createServer } from "node:http";
import { Pool } from "undici";

const pool = new Pool(`http://127.0.0.1:${process.env.UPSTREAM_PORT}`, { connections: 256 });

function fieldsOf(body: string, boundary: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const part of body.split(`--${boundary}`).slice(1, -1)) {
    const header = part.indexOf("\r\n\r\n");
    const name = /name="([^"]*)"/.exec(part.slice(0, header))?.[1];
    if (name) fields[name] = part.slice(header + 4, -2);
  }
  return fields;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", async () => {
    const boundary = /boundary=(.*)$/.exec(request.headers["content-type"] ?? "")?.[1] ?? "";
    const input = fieldsOf(Buffer.concat(chunks).toString(), boundary);
    const { body } = await pool.request({
      method: "POST",
      path: "/predictions",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input }),
    });
    const { output } = (await body.json()) as { output: string };
    const answer = JSON.stringify({ status: 200, output_data: { output } });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`proxy listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
});
