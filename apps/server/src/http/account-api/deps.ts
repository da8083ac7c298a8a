import type { FastifyRequest } from "fastify";
import type { Accounts, Caller } from "../../features/accounts/index.ts";
import type { Clock } from "../../kernel/clock.ts";

export interface AccountApiDeps {
  accounts: Accounts;
  clock: Clock;
  walletOf(userId: string): Promise<{ balanceMicros: number; reservedMicros: number }>;
}

export interface RouteDeps extends AccountApiDeps {
  callerOf(request: FastifyRequest): Promise<Caller>;
}
