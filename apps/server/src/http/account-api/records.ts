import type { KeyRecord, UserRecord } from "@gantry/wire";
import type { Key, NewKey, User } from "../../features/accounts/index.ts";
import type { Wallet } from "../../features/billing/index.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";

export function keyToWire(key: Key): KeyRecord {
  return {
    id: key.id,
    public: key.public,
    name: key.name,
    expires_at: key.expiresAt?.toISOString() ?? null,
    models: key.models && [...key.models],
    monthly_limit: key.monthlyLimitMicros === null ? null : dollarsOfMicros(key.monthlyLimitMicros),
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

export function newKeyToWire({ record, key }: NewKey): KeyRecord {
  return { ...keyToWire(record), key };
}

export function userToWire(user: User, { balance, reserved }: Wallet): UserRecord {
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    plan: user.plan,
    disabled: user.disabledAt !== null,
    balance: dollarsOfMicros(balance),
    reserved: dollarsOfMicros(reserved),
    created_at: user.createdAt.toISOString(),
  };
}
