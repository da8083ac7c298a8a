import { connect as connectSocket, isIP } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { Client } from "pg";

/** Request codes of the protocol. */
const [tlsCode, cancelCode] = [80_877_103, 80_877_102];

const ignore = (): void => undefined;

/**
 * Cancels the running query of a connection over a separate socket. Resolves when the request is delivered, or after `ms`.
 * The driver's own `cancel` does not support TLS.
 */
export function cancelQuery(client: Client, ssl: ConnectionOptions | false, ms: number): Promise<void> {
  const { host, port, processID, secretKey } = client as Client & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [at, number] of [16, cancelCode, processID, secretKey].entries()) request.writeInt32BE(number, at * 4);
  return new Promise((resolve) => {
    const socket = connectSocket(host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    socket.on("error", ignore).on("close", () => resolve());
    setTimeout(() => socket.destroy(), ms).unref();
    if (!ssl) {
      socket.write(request);
      return;
    }
    const wantTls = Buffer.alloc(8);
    wantTls.writeInt32BE(8, 0);
    wantTls.writeInt32BE(tlsCode, 4);
    socket.write(wantTls);
    socket.once("data", () => {
      connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }), ...ssl })
        .on("error", ignore)
        .on("close", () => resolve())
        .write(request);
    });
  });
}
