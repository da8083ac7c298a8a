import type { z } from "zod";

/** One route: the server registers it, the document describes it, and the SDK calls it from this row. */
export interface OperationRow {
  method: "get" | "head" | "post" | "put" | "patch" | "delete";
  /** Relative to the base of its API. */
  path: string;
  summary: string;
  /** Who may call it, side effects, what to do next. Markdown. */
  description?: string;
  /** `file`: bytes as they are, or as the `file` of a form. `upload`: a form with the path beside the file. */
  body?: z.ZodType | "file" | "upload";
  /** A body that the server accepts. */
  example?: Json;
  /** The record, or with `list` one entry; a stream or bytes by media type. */
  answer?: z.ZodType | { media: string; description: string };
  /** Another form of the answer, chosen by `Accept`. */
  otherwise?: { media: string; description: string };
  /** The field that holds the records of a list. */
  list?: string;
  status?: 200 | 201 | 202 | 204;
  /** A list whose query has a page is paged. */
  query?: z.ZodObject;
  headers?: readonly string[];
  /** Further statuses of success. */
  also?: readonly (201 | 204 | 206 | 304)[];
  /** Failures that `usualFailures` does not derive. */
  fails?: readonly number[];
  /** The status of an invalid request, where it differs from that of the API. */
  invalid?: Api["invalid"];
}

export interface Operation extends OperationRow {
  /** The method name in generated clients. */
  id: string;
  /** The path of its API, such as `/v1`. */
  base: string;
}

/** The operations of one subject; a viewer shows them together. */
export interface OperationGroup {
  tag: string;
  description: string;
  /** Failures of every operation in the group. */
  fails?: readonly number[];
  operations: Readonly<Record<string, Operation>>;
}

type OperationsOf<Base extends string, Rows> = {
  readonly [Id in keyof Rows & string]: Rows[Id] & { readonly id: Id; readonly base: Base };
};

/** Keeps the literal types of paths and schemas, from which route handlers and the SDK take their types. */
export function groupOf<const Base extends string, const Rows extends Record<string, OperationRow>>(
  base: Base,
  group: Omit<OperationGroup, "operations"> & { operations: Rows },
) {
  const entries = Object.entries<OperationRow>(group.operations).map(([id, row]) => [id, { ...row, id, base }]);
  return { ...group, operations: Object.fromEntries(entries) as OperationsOf<Base, Rows> };
}

export type Json = { readonly [key: string]: unknown };

export interface Api {
  title: string;
  description: string;
  /** The path prefix. */
  base: string;
  /** Shown on the document and every operation. */
  stability: "preview" | "stable";
  groups: readonly OperationGroup[];
  /** Schemas by their names in generated clients. */
  requests: Readonly<Record<string, z.ZodType>>;
  answers: Readonly<Record<string, z.ZodType>>;
  /** Descriptions of path parameters by name. */
  pathParameters: Readonly<Record<string, string>>;
  /** Error responses by status. */
  failures: Readonly<Record<number, { name: string; description: string; schema: string; headers?: Json }>>;
  /** Schemas used by `failures`. */
  failureSchemas: Json;
  /** The status of an invalid body, query or header. */
  invalid: 400 | 422;
  /** The fields of a paged list beside its records. */
  page: Json;
}
