import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy between a server and its PostgreSQL that can lose answers and be cut. */
export interface Wire {
  /** The address of the database through the proxy. */
  url: string;
  /**
   * The next statement that matches the last mark, on a connection that carried the earlier marks, is
   * executed; its answer is lost with its connection. Resolves then.
   */
  loseAnswerTo(...marks: [Mark, ...Mark[]]): Promise<void>;
  /** Breaks the connections that listen for notifications; they cannot reconnect until `mend`. */
  cutListeners(): void;
  /** Breaks all connections until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Identifies a statement by a text in its parameters (or in itself, without parameters), or by a part of its SQL. */
export type Mark = string | { statement: string };

interface Loss {
  marks: readonly Mark[];
  resolve(): void;
}

/** The messages that prepare a statement: P, length, name, SQL. */
const parseMessage = /P[\s\S]{4}([^\0]+)\0([^\0]+)\0/g;

/** The end of an answer: ready for the next query, outside a transaction. A commit is done by then. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]).toString("latin1");
const keptTail = 200;

export async function startWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const pairs = new Set<{ client: Socket; server: Socket; listens: boolean }>();
  const losses = new Set<Loss>();
  let state: "whole" | "cut" | "without listeners" = "whole";

  const proxy = createServer({ noDelay: true }, (client) => {
    if (state === "cut") return void client.destroy();
    const server = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const pair = { client, server, listens: false };
    pairs.add(pair);
    const progress = new Map<Loss, number>();
    const names = new Map<string, string>();
    const isSaid = (mark: Mark): boolean => {
      if (typeof mark === "string") return said.includes(mark);
      const found = [...names].find(([, sql]) => sql.includes(mark.statement));
      return found !== undefined && said.includes(`\0${found[0]}\0`);
    };
    let losing: Loss | undefined;
    let said = "";
    let heard = "";
    const end = () => {
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);

    client.on("data", (chunk) => {
      said = (said + chunk.toString("latin1")).slice(-keptTail - chunk.length);
      for (const [, name = "", sql = ""] of chunk.toString("latin1").matchAll(parseMessage)) names.set(name, sql);
      if (said.includes('listen "')) {
        pair.listens = true;
        if (state === "without listeners") return end();
      }
      for (const loss of losses) {
        const next = progress.get(loss) ?? 0;
        if (!isSaid(loss.marks[next] as Mark)) continue;
        said = "";
        progress.set(loss, next + 1);
        if (next + 1 < loss.marks.length) continue;
        losses.delete(loss);
        losing = loss;
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (!losing) return void client.write(chunk);
      heard += chunk.toString("latin1");
      if (!heard.includes(readyForQuery)) return;
      end();
      losing.resolve();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  function breakThose(which: (pair: { listens: boolean }) => boolean): void {
    for (const pair of [...pairs].filter(which)) {
      pair.client.destroy();
      pair.server.destroy();
    }
  }

  return {
    url: url.toString(),
    loseAnswerTo: (...marks) => new Promise((resolve) => losses.add({ marks, resolve })),
    cutListeners() {
      state = "without listeners";
      breakThose((pair) => pair.listens);
    },
    cut() {
      state = "cut";
      breakThose(() => true);
    },
    mend() {
      state = "whole";
    },
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        breakThose(() => true);
      }),
  };
}
