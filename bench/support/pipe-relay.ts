/** The minimum cost of a relay: `pipe`, without parsing, counting, checks or storage. */
import { Agent, request as callUpstream, createServer } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const port = Number(process.env.UPSTREAM_PORT);

const server = createServer((request, response) => {
  const upstream = callUpstream(
    { port, host: "127.0.0.1", method: request.method, path: request.url, headers: request.headers, agent },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  upstream.on("error", () => response.destroy());
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: "127.0.0.1", backlog: 2048 }, () => {
  const address = server.address();
  console.log(`relay listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
});
