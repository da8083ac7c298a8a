import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** How a gate treats connections: as a network or a server that fails does. */
export type GateMode = "open" | "refuse" | "hang" | "garbage";

/** A TCP proxy before a test server. A change of its mode breaks all connections. */
export interface Gate {
  readonly port: number;
  mode: GateMode;
  close(): Promise<void>;
}

export async function openGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let mode: GateMode = "open";
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer({ noDelay: true }, (client) => {
    keep(client);
    if (mode === "refuse") return void client.destroy();
    if (mode === "hang") return void client.resume();
    if (mode === "garbage")
      return void client.end("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n\u0000\u0001{not json");
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
    keep(upstream);
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
