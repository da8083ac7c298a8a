import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createS3Credentials } from "./s3-credentials.ts";

const minute = 60_000;

/** A source that issues keys for an hour when it is asked to renew them. */
function scripted(isSame = false) {
  let now = Date.parse("2026-11-18T05:00:00Z");
  let issued = 1;
  let renewals = 0;
  const keysOf = () => ({ accessKeyId: `A${issued}`, secretAccessKey: "s", expiration: new Date(expiresAt) });
  let expiresAt = now + 60 * minute;
  const provide = async (options?: { forceRefresh?: boolean }) => {
    if (options?.forceRefresh) {
      renewals++;
      if (!isSame) [issued, expiresAt] = [issued + 1, now + 60 * minute];
    }
    return keysOf();
  };
  const credentials = createS3Credentials(provide as never, 1000, { now: () => new Date(now) } as never);
  return {
    renewals: () => renewals,
    async after(minutes: number) {
      now += minutes * minute;
      const { identity, secondsLeft } = await credentials.forLinks();
      await sleep(0);
      return [identity.accessKeyId, secondsLeft / 60];
    },
  };
}

test("keys are renewed in the background from half of their life on", async () => {
  const { after, renewals } = scripted();
  expect(await after(0)).toEqual(["A1", 60]);
  expect(await after(29)).toEqual(["A1", 31]);
  expect(renewals()).toBe(0);
  expect(await after(2)).toEqual(["A1", 29]);
  expect(renewals()).toBe(1);
  expect(await after(0)).toEqual(["A2", 60]);
});

test("a source that keeps its keys until their end is asked once a minute", async () => {
  const { after, renewals } = scripted(true);
  await after(0);
  for (let i = 0; i < 5; i++) await after(i === 0 ? 40 : 0.1);
  expect(renewals()).toBe(1);
  await after(1);
  expect(renewals()).toBe(2);
});

test("keys without an end are not renewed, and a source that hangs is not waited for", async () => {
  const endless = createS3Credentials((async () => ({ accessKeyId: "A", secretAccessKey: "s" })) as never, 1000);
  expect((await endless.forLinks()).secondsLeft).toBe(Number.POSITIVE_INFINITY);
  const hanging = createS3Credentials((() => new Promise(() => {})) as never, 20);
  await expect(hanging.forLinks()).rejects.toMatchObject({ type: "service_unavailable", retryable: true });
});
