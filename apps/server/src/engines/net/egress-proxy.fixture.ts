import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface TestProxy {
  address: string;
  asked: { target: string; authorization: string | undefined }[];
  /** The local port for every requested name. */
  target: number;
  /** Answers CONNECT instead of the proxy. */
  reply: ((socket: Socket) => void) | undefined;
  close(): void;
}

/** A name that only the proxy can resolve. */
export const outside = "upstream.invalid";

export async function startProxy(): Promise<TestProxy> {
  const server = http.createServer((_, response) => response.writeHead(405).end());
  const clients = new Set<Socket>();
  const proxy: TestProxy = {
    address: "",
    asked: [],
    target: 0,
    reply: undefined,
    close() {
      for (const client of clients) client.destroy();
      server.close();
    },
  };
  server.on("connect", (request, client: Socket) => {
    clients.add(client);
    client.on("error", () => {}).on("close", () => clients.delete(client));
    proxy.asked.push({ target: String(request.url), authorization: request.headers["proxy-authorization"] });
    if (proxy.reply) {
      proxy.reply(client);
      return;
    }
    const upstream = connect(proxy.target, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy()).on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
