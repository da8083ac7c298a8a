import type { z } from "zod";

/** One route, as a document tells it. */
export interface Operation {
  /** What a generated client calls the method. */
  id: string;
  method: "get" | "head" | "post" | "put" | "patch" | "delete";
  /** Relative to the base of its API. */
  path: string;
  summary: string;
  /** What the summary leaves open: who may, what else happens, what to do next. Markdown. */
  description?: string;
  /** `file`: the bytes, as they are or as the `file` of a form. `upload`: a form with the path beside it. */
  body?: z.ZodType | "file" | "upload";
  /** A body that would be accepted. */
  example?: Json;
  /** The answer's record, a list of them under `list`; a stream or bytes by media type. */
  answer?: z.ZodType | { media: string; description: string };
  /** The same in another form, for who asks for that by `Accept`. */
  otherwise?: { media: string; description: string };
  /** The name under which the records of a list stand. */
  list?: string;
  status?: 200 | 201 | 204;
  /** What the route reads its query with. A list that has a page in its query comes in pages. */
  query?: z.ZodObject;
  headers?: readonly string[];
  /** Further answers of success. */
  also?: readonly (201 | 204 | 206 | 304)[];
  /** The failures that do not follow from its form, see `usualFailures`. */
  fails?: readonly number[];
  /** The status of a request that is wrong, where it is not that of the API. */
  invalid?: Api["invalid"];
}

/** The operations of one subject; a viewer shows them together. */
export interface OperationGroup {
  tag: string;
  description: string;
  operations: readonly Operation[];
}

/** A piece of a document. */
export type Json = { readonly [key: string]: unknown };

/** What one API has that another has not. */
export interface Api {
  title: string;
  description: string;
  /** Below the address of the service. */
  base: string;
  /** Said of the document and of every operation. */
  stability: "preview" | "stable";
  groups: readonly OperationGroup[];
  /** What may be sent and what is answered, by the names that generated clients give them. */
  requests: Readonly<Record<string, z.ZodType>>;
  answers: Readonly<Record<string, z.ZodType>>;
  /** What stands in a path, by its name. */
  pathParameters: Readonly<Record<string, string>>;
  /** What a refused request is answered, by the status. */
  failures: Readonly<Record<number, { name: string; description: string; schema: string; headers?: Json }>>;
  /** The schemas that the failures name. */
  failureSchemas: Json;
  /** The status of a request whose body, query or header is wrong. */
  invalid: 400 | 422;
  /** What stands beside the records of a page. */
  page: Json;
}
