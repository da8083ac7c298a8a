export {
  type ChangeUserBody,
  type CreateKeyBody,
  type CreateUserBody,
  changeUserBody,
  createKeyBody,
  createUserBody,
  endpointId,
  type KeyRecord,
  keyRecord,
  type MeRecord,
  meRecord,
  type PlanName,
  planNames,
  type RoleName,
  roleNames,
  rotateKeyBody,
  type UserRecord,
  userRecord,
} from "./accounts.ts";
export { type BackendType, backendTypes, secretNamePattern } from "./backend-schema.ts";
export { type ErrorForm, type ErrorRow, type ErrorType, errorTable } from "./error-table.ts";
export { type IdKind, idPrefixes, isId, newId } from "./ids.ts";
export type { BackendConfig, FieldSchema, Manifest, ManifestPatch, ObjectSchema, Pricing } from "./manifest.ts";
export { manifestSchema } from "./manifest-schema.ts";
export { modelNamePattern, reservedUsernames, usernamePattern } from "./names.ts";
export { putSecretBody, type SecretRecord, secretRecord } from "./secrets.ts";
export {
  type DeliveryRecord,
  type DeliveryStatus,
  deliveriesQuery,
  deliveryRecord,
  deliveryStatuses,
  type WebhookSecretsRecord,
  webhookSecretsRecord,
} from "./webhooks.ts";
