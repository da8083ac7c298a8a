import type { Deadlines } from "../../kernel/deadlines.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import type { Database } from "./database.ts";
import { QueryJob } from "./query-job.ts";
import { awayFor, unavailable } from "./unavailable.ts";

interface Listener {
  channel: string;
  onNotify: (payload: string) => void;
  onReconnect: (() => void) | undefined;
}

export interface ListenerEvents {
  /** No connection could be opened to listen on. */
  onRefused(): void;
  /** There is one again, or nobody wants one any more. */
  onSettled(): void;
  /** Told once when nothing has been heard for a while, and once when something is heard again. */
  onTrouble(text: string): void;
}

export interface ListenerHub {
  listen: Database["listen"];
  close(): Promise<void>;
}

const retryMs = 250;
/** An idle connection does not notice a server that vanished; asking it something does. */
const heartbeatMs = 15_000;
/** A restart of the server goes by without a word. */
const toldAfterMs = 3_000;

/**
 * One connection that all listeners share, apart from the pool.
 *
 *     none ──listen──► opening ──► listening ──lost──► (retryMs) ──► opening, every channel again, onReconnect
 */
export function createListenerHub(
  settings: ConnectionSettings,
  deadlines: Deadlines,
  events: ListenerEvents,
): ListenerHub {
  const listeners = new Set<Listener>();
  let connection: Connection | undefined;
  let opened: Promise<Connection> | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let awaySince: number | undefined;
  let isTold = false;

  function arrived(): void {
    if (isTold) events.onTrouble("The notifications of the database are heard again");
    isTold = false;
    awaySince = undefined;
    events.onSettled();
  }

  function gone(error: unknown, wasOpen: boolean): void {
    if (!wasOpen) events.onRefused();
    awaySince ??= performance.now();
    if (isTold || performance.now() - awaySince < toldAfterMs) return;
    isTold = true;
    const reason = error instanceof Error ? error.message : String(error);
    events.onTrouble(`Queued work starts late: the notifications of the database are not heard. ${reason}`);
  }

  const ask = (on: Connection, text: string): Promise<unknown> => on.run(new QueryJob({ text, values: [] }, deadlines));

  const quote = (channel: string): string => `"${channel.replaceAll('"', '""')}"`;

  function open(): Promise<Connection> {
    opened ??= new Promise((resolve, reject) => {
      let isOpen = false;
      const fresh: Connection = new Connection(
        {
          onFree: () => {
            if (!isOpen) arrived();
            isOpen = true;
            resolve(fresh);
          },
          onEnd: (_, error) => {
            reject(awayFor(error));
            connection = opened = undefined;
            if (closed || listeners.size === 0) return;
            gone(error, isOpen);
            scheduleReopen();
          },
          onNotify: (channel, payload) => {
            // Out of the driver's hands first: what a listener throws would end the connection.
            for (const each of listeners) if (each.channel === channel) queueMicrotask(() => each.onNotify(payload));
          },
        },
        settings,
      );
      connection = fresh;
    });
    return opened;
  }

  function scheduleReopen(): void {
    retryTimer ??= setTimeout(reopen, retryMs);
  }

  async function reopen(): Promise<void> {
    retryTimer = undefined;
    if (listeners.size === 0) return events.onSettled();
    try {
      const fresh = await open();
      const channels = new Set([...listeners].map((each) => each.channel));
      for (const channel of channels) await ask(fresh, `listen ${quote(channel)}`);
      for (const each of [...listeners]) each.onReconnect?.();
    } catch {
      // The connection's end has scheduled the next try; one that lives and does not answer is given up first.
      connection?.end(unavailable("Listening failed."));
    }
  }

  const heartbeat = setInterval(() => {
    if (connection?.idle) ask(connection, "select 1").catch(() => undefined);
  }, heartbeatMs);
  heartbeat.unref();

  return {
    async listen(channel, onNotify, onReconnect) {
      const listener: Listener = { channel, onNotify, onReconnect };
      if (closed) throw unavailable("The database connection is closed.");
      listeners.add(listener); // before the answer: notifications may follow it at once
      try {
        await ask(await open(), `listen ${quote(channel)}`);
      } catch (error) {
        listeners.delete(listener);
        throw error;
      }
      return {
        async stop() {
          listeners.delete(listener);
          const last = ![...listeners].some((each) => each.channel === channel);
          if (last && connection) await ask(connection, `unlisten ${quote(channel)}`).catch(() => undefined);
        },
      };
    },
    async close() {
      closed = true;
      clearInterval(heartbeat);
      clearTimeout(retryTimer);
      listeners.clear();
      await connection?.close();
    },
  };
}
