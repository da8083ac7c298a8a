import type { RequestListener } from "node:http";

/** Answers with `total` bytes as fast as they are read. */
export function pour(total: number): { answer: RequestListener; sent(): number } {
  let sent = 0;
  return {
    answer(_, response) {
      const piece = Buffer.alloc(64 * 1024, "x");
      const go = () => {
        while (sent < total) {
          sent += piece.length;
          if (!response.write(piece)) {
            response.once("drain", go);
            return;
          }
        }
        response.end();
      };
      go();
    },
    sent: () => sent,
  };
}
