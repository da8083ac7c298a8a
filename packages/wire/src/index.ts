export { datedListQuery, expensesQuery, managementPage, modelFilter } from "./account-queries.ts";
export {
  builtInPlans,
  type ChangeUserBody,
  type CreateKeyBody,
  type CreateUserBody,
  changeUserBody,
  createKeyBody,
  createUserBody,
  type KeyRecord,
  keyRecord,
  type MeRecord,
  meRecord,
  type PlanRecord,
  type PutPlanBody,
  planNamePattern,
  planRecord,
  putPlanBody,
  type RoleName,
  roleNames,
  rotateKeyBody,
  type UserRecord,
  userRecord,
} from "./accounts.ts";
export { type AgentErrorType, agentErrors } from "./agent-errors.ts";
export {
  type AgentBinding,
  type AgentCard,
  type AgentCreatedRecord,
  type AgentRecord,
  type AgentSnapshot,
  type AgentStatus,
  type AgentTool,
  type AgentVisibility,
  type AgentWarning,
  agentCard,
  agentCreatedRecord,
  agentRecord,
  agentSnapshot,
  agentStatuses,
  agentVisibilities,
  type ChangeAgentBody,
  type ConfirmPolicy,
  type CreateAgentBody,
  changeAgentBody,
  confirmPolicies,
  createAgentBody,
  defaultAgentModel,
  type ListChange,
  publishAgentBody,
  type RevisionDiff,
  type RevisionEntry,
  type RevisionRecord,
  type RevisionStatus,
  revisionDiff,
  revisionEntry,
  revisionRecord,
  type ToolBinding,
  type ToolRecord,
  toolRecord,
  type ValueChange,
} from "./agents.ts";
export {
  agentRunsQuery,
  agentsQuery,
  deleteQuery,
  diffQuery,
  eventNumber,
  eventsQuery,
  itemsQuery,
  listQuery,
  liveEventsQuery,
  marketplaceQuery,
  revisionsQuery,
  runQuery,
  runsQuery,
} from "./agents-queries.ts";
export { type AliasRecord, aliasRecord, type PutAliasBody, putAliasBody } from "./aliases.ts";
export { type BackendRecord, backendRecord } from "./backend-record.ts";
export { type BackendType, backendTypes, promptedBackends } from "./backend-schema.ts";
export { backendsOf, givenBackends } from "./backends.ts";
export { asksNothing } from "./check-prompt.ts";
export {
  type CreateDriveBody,
  createDriveBody,
  type DriveFileRecord,
  type DriveItem,
  type DriveItemList,
  type DriveList,
  type DriveRecord,
  driveFileRecord,
  driveItem,
  driveItemList,
  driveList,
  driveRecord,
  largestItemPage,
  maxDriveFileBytes,
} from "./drives.ts";
export { mostEmbeddingInputs, withEmbeddingFields } from "./embedding-fields.ts";
export { errorSchemas, retryableHeader } from "./error-schemas.ts";
export { type ErrorForm, type ErrorRow, type ErrorType, errorTable } from "./error-table.ts";
export { compileFieldCheck, type FieldCheck } from "./field-value.ts";
export {
  compileNumberCheck,
  compileTextCheck,
  isLongerThan,
  isWebAddress,
  type ScalarCheck,
  type ValueProblem,
} from "./field-value-scalars.ts";
export { fileFieldOf } from "./file-field.ts";
export { type FileRecord, fileRecord } from "./files.ts";
export {
  type IdpActionRecord,
  type IdpConnectorRecord,
  type IdpOutcomeRecord,
  idpActionRecord,
  idpConnectorRecord,
  putIdpConnectorBody,
  runIdpActionBody,
} from "./idp.ts";
export { type IdKind, idPrefixes, isId, newId } from "./ids.ts";
export type {
  BackendConfig,
  FieldSchema,
  ListedBackend,
  Manifest,
  ManifestPatch,
  ObjectSchema,
  Pricing,
  Workflow,
  WorkflowNode,
} from "./manifest.ts";
export { manifestDefaults, manifestSchema, modelKinds } from "./manifest-schema.ts";
export {
  type CreditRecord,
  creditBody,
  type Door,
  doors,
  type ExpensesRecord,
  type LedgerEntryRecord,
  type LedgerRecord,
  ledgerEntryRecord,
  type OverviewRecord,
  type UsageRecord,
  usageRecord,
} from "./money.ts";
export {
  agentSlugPattern,
  aliasNamePattern,
  firstSegments,
  isEndpointId,
  modelNamePattern,
  readAgentName,
  reservedUsernames,
  usernamePattern,
} from "./names.ts";
export { type ProviderPreset, type ProviderType, providerTypes } from "./provider-types.ts";
export {
  type DiscoveredModel,
  type DiscoveryRecord,
  type ImportBody,
  type ImportChoice,
  type ImportRecord,
  type ImportResult,
  importBody,
  type ProviderRecord,
  type ProviderSource,
  type ProviderTestRecord,
  type PutProviderBody,
  providerNamePattern,
  providerSources,
  putProviderBody,
  testProviderBody,
  type UpstreamBackend,
  type UpstreamModel,
} from "./providers.ts";
export { type RunEventData, type RunEventEntry, type RunEventList, runEventList } from "./run-events.ts";
export {
  answerConfirmationBody,
  type ConfirmationRecord,
  type CreateRunBody,
  confirmationRecord,
  createRunBody,
  type ReadRunBody,
  type RunErrorType,
  type RunLeave,
  type RunPhase,
  type RunRecord,
  type RunSecretRecord,
  type RunStatus,
  runErrorTypes,
  runLeaves,
  runPhases,
  runRecord,
  runStatuses,
} from "./runs.ts";
export { headerTexts, queryTexts, secretNamePattern, secretNamesIn, withSecrets } from "./secret-texts.ts";
export { putSecretBody, type SecretRecord, secretRecord } from "./secrets.ts";
export {
  makeSignInLinkBody,
  type SessionRecord,
  type SignInLinkRecord,
  sessionRecord,
  signInBody,
  signInLinkRecord,
} from "./sign-in.ts";
export {
  type TakeDownBody,
  type TakeDownRecord,
  type TakenDown,
  takeDownBody,
  takeDownRecord,
} from "./take-downs.ts";
export { textInput, textOutput } from "./text-fields.ts";
export {
  type ChangeToolServerBody,
  type ConnectionType,
  type CreateToolServerBody,
  changeToolServerBody,
  connectionTypes,
  createToolServerBody,
  type ServerToolListRecord,
  type ServerToolRecord,
  serverToolListRecord,
  serverToolRecord,
  type ToolServerAuth,
  type ToolServerRecord,
  type ToolServerStatus,
  toolServerNamePattern,
  toolServerRecord,
  toolServerStatuses,
} from "./tool-servers.ts";
export {
  type DeliveryRecord,
  type DeliveryStatus,
  deliveriesQuery,
  deliveryRecord,
  deliveryStatuses,
  type WebhookSecretsRecord,
  webhookSecretsRecord,
} from "./webhooks.ts";
export {
  isWorkflowLink,
  type WorkflowTarget,
  workflowFault,
  workflowTarget,
  workflowTargets,
} from "./workflow.ts";
