import type { ServerResponse } from "node:http";

/** Resolves when written data has been sent, or the reader has disconnected. */
export function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
