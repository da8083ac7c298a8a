/** An error about a request as a whole, in JSON-RPC. */
export function rpcError(code: number, message: string): Record<string, unknown> {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}
