import type { MeRecord } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import { dollarsOfMicros } from "../../features/accounts/index.ts";
import type { RouteDeps } from "./deps.ts";

export function meRoute(app: FastifyInstance, { callerOf, walletOf }: RouteDeps): void {
  app.get("/api/v2/me", async (request): Promise<MeRecord> => {
    const { userId, username, role, plan } = await callerOf(request);
    const { balanceMicros, reservedMicros } = await walletOf(userId);
    return {
      id: userId,
      username,
      role,
      plan,
      balance: dollarsOfMicros(balanceMicros),
      reserved: dollarsOfMicros(reservedMicros),
      currency: "USD",
    };
  });
}
