/**
 * The vault port: encrypts credentials, so that a copy of the database does not reveal them. A sealed text opens only with
 * the same `context` (its kind and owner), so a row that is moved to another owner stays closed; otherwise `open` throws.
 */
export interface Vault {
  seal(plain: string, context: string): Uint8Array;
  open(sealed: Uint8Array, context: string): string;
}
