/** A piece of an OpenAPI document. */
export type Json = { readonly [key: string]: unknown };

export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export const nullable = (type: string, rest: Json = {}): Json => ({ type: [type, "null"], ...rest });

/** An object whose fields are all required, except those listed after them. */
export function record(required: Json, optional: Json = {}, rest: Json = {}): Json {
  return {
    type: "object",
    properties: { ...required, ...optional },
    ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
    ...rest,
  };
}
