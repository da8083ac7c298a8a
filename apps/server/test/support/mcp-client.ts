import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** Clients connect with `initialize`, or by the later revision without sessions. */
export const eras = ["legacy", { pin: "2026-07-28" }] as const;

/** The official client, set up as a user would. */
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
