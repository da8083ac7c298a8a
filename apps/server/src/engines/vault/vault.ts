/**
 * The vault port: seals texts that must be stored and may not be read from a copy of the database. Called by the
 * features that keep credentials.
 *
 * What must hold: a sealed text opens only with the same `context` (what it is and whose), so that a row that was moved
 * to another owner stays shut; `open` throws on anything else.
 */
export interface Vault {
  seal(plain: string, context: string): Uint8Array;
  open(sealed: Uint8Array, context: string): string;
}
