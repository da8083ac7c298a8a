import { readFile } from "node:fs/promises";
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { Connection } from "rabbitmq-client";
import type { OnTrouble, Topic } from "./queue.ts";

/** Temporary errors. Any other at the first connect (password, virtual host, certificate) is a wrong setting. */
const awayCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["CONNECTION_TIMEOUT", "CONN_CLOSE", "CONNECTION_FORCED", "SOCKET_TIMEOUT"],
]);

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/**
 * A connection that reconnects by itself. `url` is an AMQP URI; without a user it is `guest`. For TLS, `cacertfile`,
 * `certfile` and `keyfile` in the query name PEM files. Rejects if the broker refuses us; a broker that is down is
 * awaited in the background.
 */
export async function connectRabbitMq(url: string, onTrouble: OnTrouble): Promise<Connection> {
  const address = URL.parse(url);
  if (address?.protocol !== "amqp:" && address?.protocol !== "amqps:") {
    throw new Error("AMQP_URL is not of the form amqp://user:password@host:port/vhost");
  }
  if (address.username === "") [address.username, address.password] = ["guest", "guest"];
  const tls = address.protocol === "amqps:" ? await tlsOptions(address.searchParams) : undefined;
  const connection = new Connection({
    url: address.toString(),
    ...(tls && { tls }),
    connectionName: "gantry",
    connectionTimeout: 5000,
    acquireTimeout: 10_000,
    heartbeat: 10, // Seconds. Two missed heartbeats end the connection.
    retryLow: 200,
    retryHigh: 2000,
    noDelay: true,
  });
  const first = Promise.withResolvers<void>();
  let lost = false;
  connection.on("connection", () => {
    if (lost) onTrouble(`RabbitMQ at ${address.host} is back`, undefined);
    lost = false;
    first.resolve();
  });
  connection.on("connection.blocked", (reason) => {
    onTrouble(`RabbitMQ at ${address.host} does not accept messages at the moment`, new Error(reason));
  });
  connection.on("error", (error: unknown) => {
    lost = !connection.ready; // Errors of a single channel arrive here too.
    onTrouble(`The connection to RabbitMQ at ${address.host} failed`, error);
    if (!awayCodes.has(codeOf(error))) first.reject(error);
    first.resolve();
  });
  try {
    await first.promise;
    return connection;
  } catch (error) {
    connection.unsafeDestroy();
    // The library prefixes a code, which is undefined for some refusals.
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^undefined: /, "");
    throw new Error(`RabbitMQ at ${address.host} cannot be used: ${reason}`, { cause: error });
  }
}

async function tlsOptions(query: URLSearchParams): Promise<TlsOptions> {
  const [ca, cert, key] = await Promise.all(
    ["cacertfile", "certfile", "keyfile"].map((name) => {
      const file = query.get(name);
      if (file === null) return undefined;
      return readFile(file).catch((error: Error) => {
        throw new Error(`The ${name} in AMQP_URL cannot be read: ${error.message}`, { cause: error });
      });
    }),
  );
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

/** More wake-ups would be useless: they are all alike. A queue with changed arguments needs a new name. */
export const maxQueueLength = 1000;

/** Every declaration must have the same arguments, or the broker refuses it. */
export const queueOf = (topic: Topic) => ({
  queue: `gantry.${topic}`,
  durable: true,
  arguments: { "x-queue-type": "quorum", "x-max-length": maxQueueLength, "x-overflow": "drop-head" } as const,
});
