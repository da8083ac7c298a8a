import type { ServerResponse } from "node:http";

/** Until what was written has left for the reader, or the reader has. Leaves no listener behind. */
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
