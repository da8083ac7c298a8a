import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";
import { clientOf } from "./client.ts";

const windowMs = 50;

/** Takes a part, waits, and takes the next one. */
async function readSlowly(gzip: ReturnType<typeof createGzip>): Promise<void> {
  for await (const _ of gzip) await sleep(20);
}

test("a client that takes something in each minute, but little, is cut", async () => {
  const gzip = createGzip();
  const reading = readSlowly(gzip).catch(() => {});
  const client = clientOf(gzip, { bytesPerSecond: 1e9, windowMs });
  await expect(client.write(randomBytes(4_000_000))).rejects.toThrow("took less than 1000000000 bytes a second");
  gzip.destroy();
  await reading;
  expect(() => client.check()).toThrow("The client has left");
});

test("a slow client that keeps the pace gets one large part", async () => {
  const gzip = createGzip();
  const reading = readSlowly(gzip);
  await clientOf(gzip, { bytesPerSecond: 1, windowMs: 1_000 }).write(randomBytes(2_000_000));
  gzip.end();
  await reading;
});

test("a client that takes nothing is cut, and one that leaves ends the wait", async () => {
  const [stalled, gone] = [createGzip(), createGzip()];
  const bytes = randomBytes(1_000_000);
  await expect(clientOf(stalled, { bytesPerSecond: 1, windowMs }).write(bytes)).rejects.toThrow("took less than");
  const writing = clientOf(gone).write(bytes);
  gone.destroy();
  await expect(writing).rejects.toThrow("The client has left");
});
