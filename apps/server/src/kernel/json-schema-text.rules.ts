/** What a value that breaks a keyword of a JSON Schema must be, without names of the validator. Undefined for other keywords. */
export function requirementOf(keyword: string, params: Record<string, unknown>): string | undefined {
  switch (keyword) {
    case "required":
      return `must have the property ${params.missingProperty}`;
    case "additionalProperties":
      return `must not have the property ${params.additionalProperty}`;
    case "unevaluatedProperties":
      return `must not have the property ${params.unevaluatedProperty}`;
    case "enum":
      return `must be one of ${JSON.stringify(params.allowedValues).slice(0, 500)}`;
    case "const":
      return `must be ${JSON.stringify(params.allowedValue)?.slice(0, 500)}`;
    case "type":
      return `must be of type ${[params.type].flat().join(" or ")}`;
    case "minimum":
      return `must be at least ${params.limit}`;
    case "maximum":
      return `must be at most ${params.limit}`;
    case "minLength":
      return `must have at least ${params.limit} characters`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "minItems":
      return `must have at least ${params.limit} items`;
    case "maxItems":
      return `must have at most ${params.limit} items`;
    case "maxProperties":
      return `must have at most ${params.limit} properties`;
    case "format":
      return `must be a valid ${params.format}`;
    default:
      return undefined;
  }
}
