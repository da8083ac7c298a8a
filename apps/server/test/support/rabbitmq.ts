import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inject } from "vitest";
import { type RabbitMqNode, rabbitMq, startRabbitMqNode } from "./rabbitmq-node.ts";
import { provide } from "./system-packages.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Tests request RabbitMQ here. The first request starts it, so that other test runs do not pay for it. */
    rabbitMqDesk: string;
  }
}

/** Created at the start, because Erlang's tools are slow to add one later. */
const sharedVirtualHosts = 32;
const ownVirtualHosts = 10;

interface Answer {
  trouble?: string;
  url?: string;
}

/**
 * The address of an empty virtual host on the RabbitMQ that all tests share. Undefined where RabbitMQ is missing and
 * cannot be installed: skip its tests; a warning was printed. In CI this is a failure.
 */
export async function testRabbitMq(): Promise<{ url: string } | undefined> {
  const { url } = await ask("/virtual-host");
  return url === undefined ? undefined : { url };
}

/** A separate RabbitMQ that a test may kill. Undefined as above. Call `stop` when done. */
export async function ownRabbitMq(): Promise<RabbitMqNode | undefined> {
  const { trouble } = await ask("/installed");
  return trouble === undefined ? startRabbitMqNode(ownVirtualHosts) : undefined;
}

async function ask(path: string): Promise<Answer> {
  const response = await fetch(inject("rabbitMqDesk") + path);
  const answer = (await response.json()) as Answer;
  if (response.status !== 200) throw new Error(answer.trouble);
  return answer;
}

/** Called once by global-setup.ts: vitest's main process owns the shared RabbitMQ. */
export async function openRabbitMqDesk(): Promise<{ address: string; close(): Promise<void> }> {
  let installed: Promise<boolean> | undefined;
  let node: Promise<RabbitMqNode> | undefined;
  let taken = 0;

  async function answer(path: string | undefined): Promise<Answer> {
    installed ??= provide(rabbitMq);
    if (!(await installed)) return { trouble: "RabbitMQ is missing" };
    if (path !== "/virtual-host") return {};
    if (taken === sharedVirtualHosts)
      throw new Error(`More than ${sharedVirtualHosts} test files asked for a virtual host: raise the number`);
    const mine = taken++;
    node ??= startRabbitMqNode(sharedVirtualHosts);
    return { url: (await node).url(mine) };
  }

  const desk = createServer((request, response) => {
    answer(request.url).then(
      (body) => response.end(JSON.stringify(body)),
      (error) => response.writeHead(500).end(JSON.stringify({ trouble: String(error) })),
    );
  });
  await new Promise<void>((resolve) => desk.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(desk.address() as AddressInfo).port}`,
    async close() {
      desk.close();
      desk.closeAllConnections();
      await node?.then((started) => started.stop()).catch(() => undefined);
    },
  };
}
