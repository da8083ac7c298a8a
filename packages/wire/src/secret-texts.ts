import { z } from "zod";
import { tell } from "./field-schema.ts";

export const secretNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

export const secretName = z
  .string()
  .regex(secretNamePattern, "Must be the name of a stored secret: letters, digits, _, . and -, at most 63");

/** The same form as in the fixed headers of an agent's `http_request`. */
const reference = /\{\{\s*secret:\s*([A-Za-z0-9_][A-Za-z0-9_.-]{0,62})\s*\}\}/g;

/** The names of the secrets that the texts refer to, each once. */
export function secretNamesIn(texts: Readonly<Record<string, string>> = {}): string[] {
  const names = Object.values(texts).flatMap((text) => [...text.matchAll(reference)].map(([, name = ""]) => name));
  return [...new Set(names)];
}

/** Replaces each reference to a secret by its value. */
export function withSecrets(
  texts: Readonly<Record<string, string>> = {},
  secrets: ReadonlyMap<string, string>,
): Record<string, string> {
  const filled = Object.entries(texts).map(([name, text]) => [
    name,
    text.replace(reference, (given, secret: string) => secrets.get(secret) ?? given),
  ]);
  return Object.fromEntries(filled);
}

/** The connection, the body and the identity of a call are the server's own. */
const ownHeaders =
  /^(?:host|connection|content-length|content-type|content-encoding|transfer-encoding|accept|accept-encoding|expect|te|trailer|upgrade|keep-alive|idempotency-key|proxy-.*|cookie)$/;

/** Names under which servers take a credential. */
const credentialHeader = /^authorization$|(?:^|-)(?:api-?key|subscription-key|token|secret|password)$/;
const credentialParameter =
  /^(?:key|sig|signature)$|(?:^|[_.~-])(?:api[_-]?key|subscription[_-]key|(?:access|auth)?token|secret|password)$/i;

const mostTexts = 20;

/** Printable ASCII, as in a header or a URL. */
const text = z
  .string()
  .min(1)
  .max(2048)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, "Must be printable ASCII without surrounding spaces")
  .refine(
    (value) => !value.replace(reference, "").includes("{{"),
    "Write a reference to a stored secret as {{secret:name}}",
  );

/** A manifest is shown to admins and in exports, so it has names of secrets and not their values. */
function textsOf(name: z.ZodType<string, string>, what: string, takesCredential: RegExp) {
  return z
    .record(name, text)
    .refine((texts) => Object.keys(texts).length <= mostTexts, `At most ${mostTexts} ${what}`)
    .superRefine((texts, ctx) => {
      for (const [at, value] of Object.entries(texts)) {
        if (!takesCredential.test(at) || secretNamesIn({ value }).length > 0) continue;
        tell(ctx, [at], "Store the credential with PUT /api/v2/secrets/{name}, and write {{secret:name}} here");
      }
    });
}

export const headerTexts = textsOf(
  z
    .string()
    .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/, "Must be the name of a header in lower case")
    .refine((name) => !ownHeaders.test(name), "The server sets this header itself"),
  "headers",
  credentialHeader,
);

export const queryTexts = textsOf(
  z.string().regex(/^[A-Za-z0-9_.~-]{1,64}$/, "Must be the name of a query parameter"),
  "query parameters",
  credentialParameter,
);
