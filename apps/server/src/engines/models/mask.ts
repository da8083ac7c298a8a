/** Hides the secrets of a backend in a text of its server that is kept, logged or shown. */
export type Mask = (text: string) => string;

export const hideNothing: Mask = (text) => text;

/** Hides each secret in every form in which a server may echo it. */
export function createMask(secrets: Iterable<string | undefined>): Mask {
  const forms = new Set([...secrets].flatMap((secret) => (secret ? formsOf(secret) : [])));
  if (forms.size === 0) return hideNothing;
  // The longest first, because a secret may be the beginning of another one.
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(ordered.map(RegExp.escape).join("|"), "g");
  return (text) => text.replace(pattern, "[hidden]");
}

function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret);
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const encoded = [inUrl, inForm, inForm.replaceAll("+", "%20")];
  return [secret, inJson, inJson.replaceAll("/", "\\/"), ...encoded, ...encoded.map(withLowerCaseEscapes)];
}

function withLowerCaseEscapes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (encoded) => encoded.toLowerCase());
}
