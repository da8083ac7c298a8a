import { createHmac } from "node:crypto";
/** Proves which key a node uses, without revealing it. */
export type KeyProof = (nodeId: string) => string;

export function keyProofs(key: Uint8Array): KeyProof {
  return (nodeId) => createHmac("sha256", key).update(`node:${nodeId}`).digest("base64url");
}
