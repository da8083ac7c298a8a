import type { Deadlines } from "../../kernel/deadlines.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import type { Database } from "./database.ts";
import { type Driver, type DriverQuery, sqlOver } from "./driver.ts";
import { QueryJob } from "./job.ts";
import { translate, unavailable } from "./unavailable.ts";

interface Listener {
  channel: string;
  onNotify: (payload: string) => void;
  onReconnect: (() => void) | undefined;
}

export interface ListenerHub {
  listen: Database["listen"];
  close(): Promise<void>;
}

const retryMs = 250;
/** An idle connection does not notice a server that vanished; asking it something does. */
const heartbeatMs = 15_000;

/**
 * One connection that all listeners share, apart from the pool.
 *
 *     none ──listen──► opening ──► listening ──lost──► (retryMs) ──► opening, every channel again, onReconnect
 */
export function createListenerHub(driver: Driver, settings: ConnectionSettings, deadlines: Deadlines): ListenerHub {
  const listeners = new Set<Listener>();
  let connection: Connection | undefined;
  let opened: Promise<Connection> | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let closed = false;

  function ask(on: Connection, text: string): Promise<unknown> {
    return sqlOver(driver, (query: DriverQuery) => on.run(new QueryJob(query, deadlines))).unsafe(text);
  }

  const quote = (channel: string): string => `"${channel.replaceAll('"', '""')}"`;

  function open(): Promise<Connection> {
    opened ??= new Promise((resolve, reject) => {
      const fresh: Connection = new Connection(
        driver,
        {
          onFree: () => resolve(fresh),
          onEnd: (_, error) => {
            reject(translate(error));
            connection = opened = undefined;
            if (listeners.size > 0) scheduleReopen();
          },
          onNotify: (channel, payload) => {
            // Out of the driver's hands first: it would swallow what a listener throws.
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
    if (!closed) retryTimer ??= setTimeout(reopen, retryMs);
  }

  async function reopen(): Promise<void> {
    retryTimer = undefined;
    if (listeners.size === 0) return;
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
