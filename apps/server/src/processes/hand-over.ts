import type { Socket } from "node:net";
import type { Child } from "./child.ts";

interface Offer {
  socket: Socket;
  child: Child;
  since: number;
}

export interface HandOver {
  /** Gives a connection, of which nothing has been read, to a process. */
  give(socket: Socket): void;
  /** The process has the connection. */
  taken(id: number): void;
  /** Gives what the process did not take to others. */
  ended(child: Child): void;
}

/** A process that has not taken a connection for this long hangs: others are preferred. */
const hangsAfterMs = 1_000;

/** Gives each connection to the next process that serves. `keep` gets those that no process can take. */
export function createHandOver(children: () => readonly Child[], keep: (socket: Socket) => void): HandOver {
  const offers = new Map<number, Offer>();
  let lastId = 0;
  let lastNumber = 0;

  function give(socket: Socket): void {
    if (socket.destroyed) return;
    const child = choose();
    if (!child) {
      keep(socket);
      return;
    }
    const id = ++lastId;
    lastNumber = child.number;
    offers.set(id, { socket, child, since: performance.now() });
    child.send({ kind: "connection", id }, socket, () => offerAgain(id));
  }

  function choose(): Child | undefined {
    const reachable = children().filter(({ isReachable }) => isReachable);
    const serving = reachable.filter(({ state }) => state === "serving");
    // While all stop, each still answers that it does.
    const able = serving.length > 0 ? serving : reachable.filter(({ state }) => state === "stopping");
    const hanging = hangingChildren();
    const free = able.filter((child) => !hanging.has(child));
    const among = (free.length > 0 ? free : able).toSorted((a, b) => a.number - b.number);
    return among.find(({ number }) => number > lastNumber) ?? among[0];
  }

  function hangingChildren(): Set<Child> {
    const before = performance.now() - hangsAfterMs;
    const hanging = new Set<Child>();
    // In the order in which they were made.
    for (const { child, since } of offers.values()) {
      if (since > before) break;
      hanging.add(child);
    }
    return hanging;
  }

  function offerAgain(id: number): void {
    const offer = offers.get(id);
    offers.delete(id);
    if (offer) give(offer.socket);
  }

  return {
    give(socket) {
      // A client that leaves meanwhile is noticed by the process that serves it.
      socket.on("error", () => undefined);
      give(socket);
    },
    taken(id) {
      const offer = offers.get(id);
      offers.delete(id);
      // Closes only our copy of the connection.
      offer?.socket.destroy();
    },
    ended(child) {
      for (const [id, offer] of [...offers]) if (offer.child === child) offerAgain(id);
    },
  };
}
