import type { FastifyRequest } from "fastify";
import type { Accounts, Caller } from "../../features/accounts/index.ts";
import type { Billing } from "../../features/billing/index.ts";
import type { Clock } from "../../kernel/clock.ts";

export interface AccountApiDeps {
  accounts: Accounts;
  billing: Billing;
  clock: Clock;
  /** Of the program. */
  version: string;
}

export interface RouteDeps extends AccountApiDeps {
  callerOf(request: FastifyRequest): Promise<Caller>;
}
