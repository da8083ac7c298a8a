import type { FastifyRequest } from "fastify";
import type { Accounts, Caller } from "../../features/accounts/index.ts";
import type { Billing } from "../../features/billing/index.ts";
import type { Storage } from "../../features/files/index.ts";
import type { Clock } from "../../kernel/clock.ts";

export interface AccountApiDeps {
  accounts: Accounts;
  billing: Billing;
  /** What a user stores in uploads and drives, and may. */
  storageOf(userId: string): Promise<Storage>;
  clock: Clock;
  /** Of the program. */
  version: string;
}

export interface RouteDeps extends AccountApiDeps {
  callerOf(request: FastifyRequest): Promise<Caller>;
}
