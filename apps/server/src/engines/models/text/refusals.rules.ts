/** How servers say that they do not know or support a field. */
const unsupported = anyOf(
  /unsupported|unknown|unrecogni[sz]ed|unexpected|\bextra|deprecated/,
  /(?:not|n't) (?:support(?:ed)?|permitted|allowed)\b/,
  /not a valid (?:field|parameter|argument)/,
);

/** How they refuse the value of a field that they know. */
const refusedValue = anyOf(
  /(?:unsupported|invalid|unknown|unexpected|unrecogni[sz]ed)[ _](?:value|variant)/,
  /(?:supported|allowed|permitted) values|input should be|literal_error/,
  /must be (?:one of|at least|at most|less|greater)|is too (?:large|small|high|low)/,
);

/** A refused value concerns only the request with that value. */
export function refusesValue(body: string): boolean {
  return refusedValue.test(body);
}

/** True if a refusal says that the server does not support the field, so that it can be left out for all callers. */
export function refusesField(body: string, field: string): boolean {
  const name = `\\b${field}\\b`;
  if (!new RegExp(name).test(body) || !unsupported.test(body) || refusesValue(body)) return false;
  // "'verbosity' does not support 'low'", unlike "this model does not support 'verbosity'".
  return !new RegExp(`${name}\\W{0,4} (?:does not|doesn't) support`).test(body);
}

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), "i");
}
