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
  /** The server refused the connection. */
  onRefused(): void;
  /** The connection is open again, or no longer needed. */
  onSettled(): void;
  /** Receives one message after a while without a connection, and one when it is back. */
  onTrouble(text: string): void;
}

export interface ListenerHub {
  listen: Database["listen"];
  close(): Promise<void>;
}

const retryMs = 250;
/** An idle connection does not notice that the server vanished. A query does. */
const heartbeatMs = 15_000;
/** A restart of the server is not reported. */
const reportAfterMs = 3_000;

/**
 * One connection outside the pool, shared by all listeners.
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
  let isReported = false;

  function arrived(): void {
    if (isReported) events.onTrouble("Database notifications arrive again");
    isReported = false;
    awaySince = undefined;
    events.onSettled();
  }

  function gone(error: unknown, wasOpen: boolean): void {
    if (!wasOpen) events.onRefused();
    awaySince ??= performance.now();
    if (isReported || performance.now() - awaySince < reportAfterMs) return;
    isReported = true;
    const reason = error instanceof Error ? error.message : String(error);
    events.onTrouble(`Queued work starts late: database notifications do not arrive. ${reason}`);
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
            // Outside the driver's callback, where an exception would end the connection.
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
      // Its end schedules the next try.
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
      listeners.add(listener); // Notifications may follow the answer at once.
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
