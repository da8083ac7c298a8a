import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type {
  RunLeave,
  TriggerDeliveryId,
  TriggerDeliveryStatus,
  TriggerOverlap,
  TriggerVerification,
} from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";

type WithoutSecret<T> = T extends unknown ? Omit<T, "secret"> : never;

/** How to verify a signature. The secret is sealed beside it. */
export type StoredVerification = WithoutSecret<TriggerVerification>;

/**
 * An address to which others post to start runs.
 *
 *   active ──enabled: false──► disabled        active ──the key or the agent is gone──► paused
 *     ▲─────────────────────────── enabled: true ──────────────────────────────────────────┘
 */
export interface Trigger {
  readonly id: string;
  readonly ownerId: string;
  readonly agentId: string;
  readonly keyId: string;
  readonly secretHash: Uint8Array;
  readonly name: string | null;
  readonly input: Readonly<Record<string, unknown>> | null;
  readonly verification: StoredVerification | null;
  readonly verificationSecret: Uint8Array | null;
  readonly deliveryId: TriggerDeliveryId | null;
  readonly enabled: boolean;
  readonly overlap: TriggerOverlap;
  readonly maxCost: number | null;
  readonly approve: readonly string[];
  readonly connectors: readonly RunLeave[];
  readonly threadId: string | null;
  readonly expectedPrice: number | null;
  readonly pausedReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** With what its deliveries and its agent say. */
export interface ListedTrigger extends Trigger {
  readonly agentName: string;
  readonly lastDeliveryAt: Date | null;
  readonly lastRunId: string | null;
}

export interface TriggerDelivery {
  readonly id: string;
  readonly deliveryId: string | null;
  readonly status: TriggerDeliveryStatus;
  readonly reason: string | null;
  readonly runId: string | null;
  readonly createdAt: Date;
}

export function triggerNotFound(): Fault {
  return fault("not_found", "Trigger not found");
}

/** The sealing context. */
export const verificationContext = (ownerId: string, triggerId: string) => `trigger:${ownerId}:${triggerId}`;

/** 256 bits: one round of SHA-256 is enough to store it. */
export function newSecret(): { secret: string; secretHash: Buffer } {
  const secret = randomBytes(32).toString("base64url");
  return { secret, secretHash: hashOf(secret) };
}

function hashOf(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

const unknownHash = Buffer.alloc(32);

/** Takes the same time whether the trigger exists or not. */
export function isSecretOf(trigger: Pick<Trigger, "secretHash"> | undefined, presented: string): boolean {
  const isRight = timingSafeEqual(hashOf(presented), trigger?.secretHash ?? unknownHash);
  return trigger !== undefined && isRight;
}
