import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { Fault } from "../../kernel/errors.ts";
import type { MultipartBody, OnFile } from "./form.ts";
import { type ReadMultipartOptions, readMultipart } from "./read-multipart.ts";
import type { Outcome } from "./scan-cases.fixture.ts";

/** Reads a file whichever way it comes. */
export const swallow: OnFile<string> = async ({ filename, body }) => {
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : await buffer(body);
  return `file:${filename ?? ""}:${bytes.toString("latin1")}`;
};

export function outcomeOf(body: MultipartBody<string>): Outcome {
  if (body.kind !== "form") return [["kind", body.kind]];
  return body.entries.map((entry) => [entry.name, "value" in entry ? entry.value : entry.file]);
}

export function outcomeOfError(error: unknown): Outcome {
  if (!(error instanceof Fault)) throw error;
  return { type: error.type, loc: [...error.issues[0].loc] };
}

export interface FormServer {
  port: number;
  /** One entry a request: how the reading of its body ended. */
  outcomes: Promise<Outcome>[];
  connect(): Promise<Socket>;
  close(): Promise<void>;
}

/** A bare HTTP server that reads forms and answers with what it understood. */
export async function serveForms(
  options: (request: IncomingMessage) => ReadMultipartOptions<string>,
): Promise<FormServer> {
  const outcomes: Promise<Outcome>[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer((request, response) => {
    const outcome = readMultipart(request, options(request)).then(outcomeOf, outcomeOfError);
    outcomes.push(outcome);
    outcome.then(
      (result) => response.writeHead(Array.isArray(result) ? 200 : 422).end(JSON.stringify(result)),
      () => response.writeHead(500).end(),
    );
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    outcomes,
    async connect() {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
