import type { Database } from "../../src/engines/database/index.ts";
import type { Vault } from "../../src/engines/vault/vault.ts";
import {
  type Flow,
  type Grant,
  sealedClient,
  sealedFlow,
  sealedGrant,
  sealedSecret,
} from "../../src/features/tool-servers/oauth/sealed.ts";

const redirectUri = "https://gantry.example.test/hooks/oauth/callback";

/** One text in each sealed column of OAuth, for the tool server `mcp_2`. */
export async function fillOAuth({ sql }: Database, vault: Vault, userId: string): Promise<void> {
  const named = (name: string) => ({ client: { id: name } }) as unknown as Grant & Flow;
  const secret = sealedSecret.seal(vault, "of-a-client", "mcp_2");
  await sql`
    insert into tool_server_oauth (server_id, client_id, sealed_secret) values ('mcp_2', 'a', ${secret as Buffer})`;
  const client = sealedClient.seal(vault, named("client"), "mcp_2", redirectUri);
  await sql`
    insert into tool_server_clients (server_id, redirect_uri, sealed)
    values ('mcp_2', ${redirectUri}, ${client as Buffer})`;
  const flow = sealedFlow.seal(vault, named("flow"), userId, "mcp_2");
  await sql`
    insert into tool_server_flows (server_id, user_id, state_hash, redirect_uri, sealed, expires_at)
    values ('mcp_2', ${userId}, 'hash', ${redirectUri}, ${flow as Buffer}, now() + interval '1 hour')`;
  const grant = sealedGrant.seal(vault, named("grant"), userId, "mcp_2");
  await sql`
    insert into tool_server_authorizations (server_id, user_id, sealed_tokens, grant_id, version)
    values ('mcp_2', ${userId}, ${grant as Buffer}, 'g', 'v')`;
}

export async function openOAuth({ sql }: Database, vault: Vault, userId: string) {
  const [row] = await sql`
    select sealed_secret as secret, c.sealed as client, f.sealed as flow, sealed_tokens as grant
    from tool_server_oauth join tool_server_clients c using (server_id) join tool_server_flows f using (server_id)
    join tool_server_authorizations using (server_id)`;
  const opened = [
    sealedSecret.open(vault, row?.secret, "mcp_2"),
    sealedClient.open(vault, row?.client, "mcp_2", redirectUri),
    sealedFlow.open(vault, row?.flow, userId, "mcp_2"),
    sealedGrant.open(vault, row?.grant, userId, "mcp_2"),
  ];
  if (opened.includes(undefined)) throw new Error("a text of OAuth does not open");
  return opened;
}
