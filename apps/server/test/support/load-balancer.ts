import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A target. Its address may change after a restart. */
export interface Target {
  readonly name: string;
  readonly url: string;
}

export interface LoadBalancer {
  url: string;
  /** Names of the nodes that receive requests now. */
  inUse(): string[];
  /** Number of requests sent to each node. */
  readonly given: Map<string, number>;
  /** Failures between the balancer and a node: each lost a client's request. */
  readonly broken: string[];
  close(): Promise<void>;
}

const lookEveryMs = 100;
const lookWithinMs = 1_000;

/**
 * Does only what load balancers do: distributes requests over nodes whose `/readyz` is 200, keeps connections
 * to them, tries the next node when one refuses a connection, and answers 502 when a node breaks off a
 * request.
 */
export async function startLoadBalancer(targets: () => readonly Target[]): Promise<LoadBalancer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const given = new Map<string, number>();
  const broken: string[] = [];
  let ready: Target[] = [];
  let turn = 0;
  let closed = false;

  async function look(): Promise<void> {
    while (!closed) {
      // A node that returns at another address counts as a new node.
      const now = targets().map(({ name, url }) => ({ name, url }));
      const answers = await Promise.all(now.map(({ url }) => isReady(url)));
      ready = now.filter((_, n) => answers[n]);
      await sleep(lookEveryMs);
    }
  }

  function pass(request: IncomingMessage, response: ServerResponse, body: Buffer, tried: ReadonlySet<string>): void {
    const left = ready.filter(({ url }) => !tried.has(url));
    const target = left[turn++ % Math.max(1, left.length)];
    if (!target) {
      broken.push(`no node was ready for ${request.method} ${request.url}`);
      return void response.writeHead(502).end();
    }
    const { hostname, port } = new URL(target.url);
    const { method = "GET", url: path = "/", headers } = request;
    const onward = httpRequest({
      agent,
      hostname,
      port,
      method,
      path,
      headers: { ...headers, connection: "keep-alive" },
    });
    onward.on("response", (answer) => {
      const { connection: _, "keep-alive": __, ...kept } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, kept);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", (error) => {
        broken.push(`${target.name} broke off its answer to ${method} ${path}: ${error.message}`);
        response.destroy();
      });
    });
    onward.on("error", (error: NodeJS.ErrnoException) => {
      if (response.destroyed || response.headersSent) return;
      if (error.code === "ECONNREFUSED") return pass(request, response, body, new Set([...tried, target.url]));
      broken.push(`${target.name} broke off ${method} ${path}: ${error.code} ${error.message}`);
      response.writeHead(502).end();
    });
    // Passes on that the client disconnected.
    response.once("close", () => onward.destroy());
    given.set(target.name, (given.get(target.name) ?? 0) + 1);
    onward.end(body);
  }

  const server = createServer((request, response) => {
    bodyOf(request).then(
      (body) => pass(request, response, body, new Set()),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const looking = look();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inUse: () => ready.map(({ name }) => name),
    given,
    broken,
    async close() {
      closed = true;
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await looking;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const isReady = (url: string): Promise<boolean> =>
  url === ""
    ? Promise.resolve(false)
    : fetch(`${url}/readyz`, { signal: AbortSignal.timeout(lookWithinMs) }).then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.status === 200;
        },
        () => false,
      );
