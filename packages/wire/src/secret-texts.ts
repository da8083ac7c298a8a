import { z } from "zod";

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

/** The connection and the body are the server's own. */
const ownHeaders =
  /^(?:host|connection|content-length|content-type|content-encoding|transfer-encoding|accept-encoding|expect|te|trailer|upgrade|keep-alive|proxy-.*|cookie)$/;

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

function textsOf(name: z.ZodType<string, string>, what: string) {
  return z.record(name, text).refine((texts) => Object.keys(texts).length <= mostTexts, `At most ${mostTexts} ${what}`);
}

export const headerTexts = textsOf(
  z
    .string()
    .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/, "Must be the name of a header in lower case")
    .refine((name) => !ownHeaders.test(name), "The server sets this header itself"),
  "headers",
);

export const queryTexts = textsOf(
  z.string().regex(/^[A-Za-z0-9_.~-]{1,64}$/, "Must be the name of a query parameter"),
  "query parameters",
);
