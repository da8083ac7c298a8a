export { type ErrorForm, type ErrorRow, type ErrorType, errorTable } from "./error-table.ts";
export { type IdKind, idPrefixes, isId, newId } from "./ids.ts";
export type { BackendConfig, FieldSchema, Manifest, ObjectSchema, Pricing } from "./manifest.ts";
export { modelNamePattern, reservedUsernames, usernamePattern } from "./names.ts";
