import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttableLine {
  url: string;
  /** How many connections there were. */
  readonly connections: number;
  /** Breaks every connection that stands now. */
  cut(): void;
  /** Whether new connections are broken at once. */
  isDown: boolean;
  close(): Promise<void>;
}

/** A line to a server that breaks when the test says so, as networks do. */
export async function startCuttableLine(target: string): Promise<CuttableLine> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections++;
    if (line.isDown) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const line: CuttableLine = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    isDown: false,
    cut: () => {
      for (const socket of open) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        line.cut();
        server.close(() => resolve());
      }),
  };
  return line;
}
