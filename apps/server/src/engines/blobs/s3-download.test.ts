import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { guardDownload } from "./s3-download.ts";

const silent = () => new Readable({ read() {} });

test("a body that breaks off before it is read tells its reader, and nobody else", async () => {
  for (const breakOff of [(body: Readable) => body.destroy(new Error("aborted")), (body: Readable) => body.destroy()]) {
    const body = silent();
    body.push("some bytes");
    const download = guardDownload(body);
    breakOff(body);
    await sleep(20);
    await expect(buffer(download)).rejects.toMatchObject({ type: "service_unavailable", retryable: true });
  }
});

test("one that is not read and given up leaves the connection", async () => {
  const body = silent();
  guardDownload(body).destroy();
  await sleep(20);
  expect(body.destroyed).toBe(true);
});
