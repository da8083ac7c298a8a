import { type BackendConfig, secretNamesIn } from "@gantry/wire";
import type { RevealedSecrets } from "../engines/models/backend-access.ts";

type Naming = Pick<BackendConfig, "secret" | "headers" | "query">;

/** Where the values come from. Undefined: the secret does not exist. */
export interface SecretSources {
  /** For `secret`, whose value the protocol sends to the backend's own address. */
  key(name: string): Promise<string | undefined> | string | undefined;
  /** For `headers` and `query`: only what the model's owner has stored, never a key of the operator. */
  stored(name: string): Promise<string | undefined>;
}

export class SecretMissing extends Error {
  readonly secret: string;

  constructor(secret: string) {
    super(`The secret ${secret} does not exist`);
    this.name = "SecretMissing";
    this.secret = secret;
  }

  /** For the owner of the secret. */
  get sentence(): string {
    return `The secret "${this.secret}" named in the manifest does not exist. Store it with PUT /api/v2/secrets/${this.secret}.`;
  }
}

export function namesSecrets(backend: Naming): boolean {
  return backend.secret !== undefined || textNames(backend).length > 0;
}

/** Rejects with `SecretMissing` unless all secrets exist: a call with a part of them would only be refused. */
export async function reveal(backend: Naming, sources: SecretSources): Promise<RevealedSecrets> {
  const { secret } = backend;
  const [key, ...stored] = await Promise.all([
    secret === undefined ? undefined : found(secret, sources.key(secret)),
    ...textNames(backend).map(async (name) => [name, await found(name, sources.stored(name))] as const),
  ]);
  return { key, secrets: new Map(stored) };
}

async function found(name: string, value: ReturnType<SecretSources["key"]>): Promise<string> {
  const revealed = await value;
  if (revealed === undefined) throw new SecretMissing(name);
  return revealed;
}

function textNames({ headers, query }: Naming): string[] {
  return [...new Set([...secretNamesIn(headers), ...secretNamesIn(query)])];
}

export function isSame(left: RevealedSecrets, right: RevealedSecrets): boolean {
  const isEqual = ([name, value]: [string, string]) => right.secrets.get(name) === value;
  return left.key === right.key && left.secrets.size === right.secrets.size && [...left.secrets].every(isEqual);
}
