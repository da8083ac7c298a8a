import type { ToolServersContext } from "../context.ts";
import type { SealedGrant } from "./oauth-store.ts";
import { type Grant, sealedGrant } from "./sealed.ts";

/** Further ones expire by themselves. */
const mostRevoked = 50;

/** Revokes tokens at their authorization server in the background: they are deleted here already. */
export function revokeLater(context: ToolServersContext, serverId: string, grants: readonly Grant[]): void {
  const { oauth, log } = context;
  const revoke = async () => {
    for (const { server, client, tokens } of grants.slice(0, mostRevoked)) {
      try {
        await oauth.revoke(server, client, tokens);
      } catch (error) {
        const reason = error instanceof Error ? error.name : "unknown";
        log.warn({ server_id: serverId, reason }, "could not revoke an authorization of a tool server");
      }
    }
  };
  void revoke();
}

export function openGrants(
  { vault }: ToolServersContext,
  serverId: string,
  sealed: readonly (SealedGrant | undefined)[],
): Grant[] {
  return sealed.flatMap((one) =>
    one?.sealedTokens ? (sealedGrant.open(vault, one.sealedTokens, one.userId, serverId) ?? []) : [],
  );
}
