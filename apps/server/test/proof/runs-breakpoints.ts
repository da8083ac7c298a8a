import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * Writes that change a run, by a part of their SQL. A transaction counts at its commit; a settlement
 * without ends only admits.
 */
const writesOfRuns = {
  claim: "from claim_runs(",
  write: "from write_runs(",
  settlement: "from write_batch(",
  child: "insert into runs",
} as const;

type WriteKind = keyof typeof writesOfRuns | "admission";

/** The k-th write of its kind, from 1. Empty claims do not count. */
export interface Breakpoint {
  kind: WriteKind;
  k: number;
  /** Before it reaches PostgreSQL, or after execution and before the answer arrives. */
  side: "before" | "after";
}

export interface BreakpointWire {
  url: string;
  /** Writes that passed, in order. */
  readonly seen: readonly { kind: WriteKind; k: number }[];
  /** Arms the breakpoint. `onReached` is called while the write or its answer, and everything after it, is held back. */
  arm(at: Breakpoint | undefined, onReached: () => void): void;
  /** Delivers held-back data. */
  release(): void;
  /** Breaks all connections until `mend`; held-back data is lost. */
  cut(): void;
  mend(): void;
  /** From now on the first answer to every write is lost with its connection; repeats are answered. */
  loseEveryAnswer(): void;
  close(): Promise<void>;
}

const dataRow = 0x44;
const readyForQuery = 0x5a;

/** The messages of one direction: type, length, body. Partial messages are kept for the next chunk. */
class Messages {
  #rest = Buffer.alloc(0);
  /** The first message of a client has no type. */
  #isStarted: boolean;

  constructor(isServer: boolean) {
    this.#isStarted = isServer;
  }

  take(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const whole: Buffer[] = [];
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#rest.length < head + 4) return whole;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return whole;
      whole.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      this.#isStarted = true;
    }
  }
}

/** Of a Bind message: two names, then the formats, then the parameters, each list with its length. */
function parameterOf(bind: Buffer, n: number): string {
  const names = bind.indexOf(0, bind.indexOf(0, 5) + 1) + 1;
  let at = names + 2 + 2 * bind.readInt16BE(names) + 2;
  for (let passed = 0; passed < n; passed++) at += 4 + Math.max(0, bind.readInt32BE(at));
  return bind.toString("utf8", at + 4, at + 4 + bind.readInt32BE(at));
}

/** The position of `ends` among the parameters of `write_batch`. */
const ends = 4;

/** A proxy between a server and its PostgreSQL that stops at one write. It parses the protocol to see each statement. */
export async function startBreakpointWire(databaseUrl: string): Promise<BreakpointWire> {
  const target = new URL(databaseUrl);
  const seen: { kind: WriteKind; k: number }[] = [];
  const sockets = new Set<Socket>();
  let armed: Breakpoint | undefined;
  let isCounting = false;
  let onReached = () => {};
  let isReached = false;
  let isCut = false;
  let isLossy = false;
  const lost = new Set<WriteKind>();
  let heldBack: (() => void)[] = [];

  const countOf = (kind: WriteKind) => seen.filter((one) => one.kind === kind).length;
  const reach = () => {
    isReached = true;
    onReached();
  };

  const proxy = createServer({ noDelay: true }, (client) => {
    if (isCut) return void client.destroy();
    const server = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const statements = new Map<string, string>();
    const [fromClient, fromServer] = [new Messages(false), new Messages(true)];
    /** Unanswered statements in order; undefined for those that do not write a run. */
    const awaited: (WriteKind | undefined)[] = [];
    let bound: WriteKind | undefined;
    let isInTransaction = false;
    let insertsRun = false;
    let hasRows = false;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }

    client.on("data", (chunk) => {
      for (const message of fromClient.take(chunk)) say(message);
    });
    server.on("data", (chunk) => {
      for (const message of fromServer.take(chunk)) hear(message);
    });

    function say(message: Buffer): void {
      if (isReached) {
        heldBack.push(() => say(message));
        return;
      }
      const type = String.fromCharCode(message[0] ?? 0);
      const kind = kindOf(type, message);
      if (kind) bound = kind;
      if (kind && armed?.side === "before" && armed.kind === kind && armed.k === countOf(kind) + 1) {
        heldBack.push(() => say(message));
        reach();
        return;
      }
      if (type === "S" || type === "Q") {
        awaited.push(bound);
        bound = undefined;
      }
      server.write(message);
    }

    function hear(message: Buffer): void {
      if (isReached) {
        heldBack.push(() => hear(message));
        return;
      }
      if (message[0] === dataRow) hasRows = true;
      if (message[0] === readyForQuery) {
        const kind = awaited.shift();
        if (kind && (kind !== "claim" || hasRows)) {
          seen.push({ kind, k: countOf(kind) + 1 });
          if (isLossy && !lost.delete(kind)) {
            lost.add(kind);
            end();
            return;
          }
          if (armed?.side === "after" && armed.kind === kind && armed.k === countOf(kind)) {
            heldBack.push(() => client.write(message));
            reach();
            return;
          }
        }
        hasRows = false;
      }
      client.write(message);
    }

    /** A statement, bound to parameters or sent as text. */
    function kindOf(type: string, message: Buffer): WriteKind | undefined {
      const texts = message.subarray(5).toString("latin1").split("\0", 3);
      if (type === "P") statements.set(texts[0] ?? "", texts[1] ?? "");
      const sql = type === "B" ? statements.get(texts[1] ?? "") : type === "Q" ? texts[0] : undefined;
      if (sql === undefined || !isCounting) return undefined;
      if (/^\s*(begin|commit|rollback\s*$)/i.test(sql)) {
        const isChild = insertsRun && /commit/i.test(sql);
        isInTransaction = /begin/i.test(sql);
        insertsRun = false;
        return isChild ? "child" : undefined;
      }
      if (sql.includes(writesOfRuns.child)) {
        if (!isInTransaction) return "child";
        insertsRun = true;
      }
      const found = Object.entries(writesOfRuns).find(([kind, part]) => kind !== "child" && sql.includes(part));
      const kind = found?.[0] as WriteKind | undefined;
      return kind === "settlement" && parameterOf(message, ends) === "{}" ? "admission" : kind;
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    url: url.toString(),
    seen,
    arm(at, reached) {
      armed = at;
      onReached = reached;
      isCounting = true;
    },
    release() {
      isReached = false;
      armed = undefined;
      const late = heldBack;
      heldBack = [];
      for (const arrive of late) arrive();
    },
    cut() {
      isCut = true;
      isReached = false;
      armed = undefined;
      heldBack = [];
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    loseEveryAnswer() {
      isCounting = true;
      isLossy = true;
    },
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
