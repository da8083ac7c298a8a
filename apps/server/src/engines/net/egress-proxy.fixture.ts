import { once } from "node:events";
import http from "node:http";
import https from "node:https";
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

/** With a certificate, the proxy itself speaks TLS. */
export async function startProxy(certificate?: { key: string; cert: string }): Promise<TestProxy> {
  const refuse: http.RequestListener = (_, response) => response.writeHead(405).end();
  const server = certificate ? https.createServer(certificate, refuse) : http.createServer(refuse);
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
  server.on("connect", (request: http.IncomingMessage, client: Socket) => {
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
  proxy.address = `${certificate ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
