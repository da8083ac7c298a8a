import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** The two ways in which clients shake hands: with `initialize`, and by the later revision that has no sessions. */
export const eras = ["legacy", { pin: "2026-07-28" }] as const;

/** The official client, connected as a user would set it up. */
export async function connectMcp(
  url: string,
  key: string,
  options: { mode?: (typeof eras)[number]; headers?: Record<string, string> } = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: options.mode ?? "legacy" }, capabilities: {} },
  );
  const headers = options.headers ?? { "x-api-key": key };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}
