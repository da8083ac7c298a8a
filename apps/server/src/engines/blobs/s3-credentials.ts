import type { S3Client } from "@aws-sdk/client-s3";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { asStoreFault } from "./s3-errors.ts";

export interface LinkCredentials {
  identity: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  /** Infinity for credentials without a stated end. */
  secondsLeft: number;
}

export interface S3Credentials {
  /** Rejects with `service_unavailable` if no source answers in time. */
  forLinks(): Promise<LinkCredentials>;
}

const renewBelowMs = 30 * 60_000;
const renewEveryMs = 60_000;

/**
 * The client's credentials, as links need them. The SDK renews them five minutes before they end, which is enough for calls
 * but would leave links of five minutes. So they are renewed in the background from half of their life or 30 minutes on.
 * Sources that return the same credentials until shortly before their end are asked once a minute.
 */
export function createS3Credentials(
  provide: S3Client["config"]["credentials"],
  patienceMs: number,
  clock: Clock = systemClock,
): S3Credentials {
  let seen: { expiresAt: number; lifeMs: number } | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;

  function leftOf(expiration: Date): number {
    const expiresAt = expiration.getTime();
    const now = clock.now().getTime();
    const leftMs = expiresAt - now;
    if (seen?.expiresAt !== expiresAt) seen = { expiresAt, lifeMs: leftMs };
    const isOld = leftMs < Math.min(renewBelowMs, seen.lifeMs / 2);
    if (isOld && now - renewedAt > renewEveryMs) {
      renewedAt = now;
      // The current ones are still valid. The SDK repeats a failed renewal.
      provide({ forceRefresh: true }).catch(() => {});
    }
    return Math.floor(leftMs / 1000);
  }

  return {
    async forLinks() {
      try {
        const identity = await inTime(provide(), patienceMs);
        const { expiration } = identity;
        return { identity, secondsLeft: expiration ? leftOf(expiration) : Number.POSITIVE_INFINITY };
      } catch (error) {
        throw asStoreFault(error);
      }
    },
  };
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("No credentials for S3 arrived in time")), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
