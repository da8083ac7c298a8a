import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { guardDownload } from "./s3-download.ts";

const silent = () => new Readable({ read() {} });

test("a body that breaks before it is read fails its reader only", async () => {
  for (const breakOff of [(body: Readable) => body.destroy(new Error("aborted")), (body: Readable) => body.destroy()]) {
    const body = silent();
    body.push("some bytes");
    const download = guardDownload(body);
    breakOff(body);
    await sleep(20);
    await expect(buffer(download)).rejects.toMatchObject({ type: "service_unavailable", retryable: true });
  }
});

test("an unread body that is destroyed frees the connection", async () => {
  const body = silent();
  guardDownload(body).destroy();
  await sleep(20);
  expect(body.destroyed).toBe(true);
});
