import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedHook {
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  body: any;
}

export interface HookReceiver {
  url: string;
  readonly received: ReceivedHook[];
  /** The status of the next answers. */
  status: number;
  close(): Promise<void>;
}

/** A receiver of webhooks that keeps what it gets. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const received: ReceivedHook[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    received.push({ url: request.url ?? "", headers: request.headers, text, body: JSON.parse(text) });
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: HookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    status: 204,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
