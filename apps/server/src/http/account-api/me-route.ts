import type { MeRecord } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import { dollarsOfMicros } from "../../kernel/money.ts";
import type { RouteDeps } from "./deps.ts";

export function meRoute(app: FastifyInstance, { billing, callerOf, storageOf }: RouteDeps): void {
  app.get("/api/v2/me", async (request): Promise<MeRecord> => {
    const { userId, username, role, plan } = await callerOf(request);
    const [{ balance, reserved }, { used, allowed }] = await Promise.all([billing.walletOf(userId), storageOf(userId)]);
    return {
      id: userId,
      username,
      role,
      plan,
      balance: dollarsOfMicros(balance),
      reserved: dollarsOfMicros(reserved),
      currency: "USD",
      storage: { used_bytes: used, allowed_bytes: allowed ?? null },
    };
  });
}
