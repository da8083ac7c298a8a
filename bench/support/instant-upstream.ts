/** A Cog server that answers every prediction at once, as cheaply as node:http can. */
import { createServer } from "node:http";

const answer = Buffer.from(
  JSON.stringify({ id: "x", status: "succeeded", output: "done", metrics: { predict_time: 0 } }),
);

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
    response.end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`upstream listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
});
