export type {
  AgentBinding,
  AgentCard,
  AgentCreatedRecord,
  AgentErrorType,
  AgentRecord,
  AgentSnapshot,
  AgentStatus,
  AgentTool,
  AgentVisibility,
  AgentWarning,
  AliasRecord,
  BackendConfig,
  BackendRecord,
  ChangeAgentBody,
  ChangeToolServerBody,
  ChangeUserBody,
  ConfirmationRecord,
  ConfirmPolicy,
  ConnectionType,
  CreateAgentBody,
  CreateDriveBody,
  CreateKeyBody,
  CreateRunBody,
  CreateToolServerBody,
  CreateUserBody,
  CreditRecord,
  DeliveryRecord,
  DeliveryStatus,
  DiscoveredModel,
  DiscoveryRecord,
  Door,
  DriveFileRecord,
  DriveItem,
  DriveItemList,
  DriveList,
  DriveRecord,
  ErrorType,
  ExpensesRecord as Expenses,
  FieldSchema,
  FileRecord,
  IdpActionRecord,
  IdpConnectorRecord,
  IdpOutcomeRecord as IdpOutcome,
  ImportBody,
  ImportRecord,
  KeyRecord,
  LedgerEntryRecord,
  LedgerRecord,
  ListChange,
  ListedBackend,
  Manifest,
  ManifestPatch,
  MeRecord,
  ObjectSchema,
  OverviewRecord,
  PlanRecord,
  Pricing,
  ProviderPreset,
  ProviderRecord,
  ProviderSource,
  ProviderTestRecord,
  ProviderType,
  PutAliasBody,
  PutPlanBody,
  PutProviderBody,
  RevisionDiff,
  RevisionEntry,
  RevisionRecord,
  RevisionStatus,
  RoleName,
  RunErrorType,
  RunEventData,
  RunEventEntry,
  RunEventList,
  RunLeave,
  RunPhase,
  RunRecord,
  RunSecretRecord as RunSecret,
  RunStatus,
  SecretRecord,
  ServerToolListRecord,
  ServerToolRecord,
  SessionRecord,
  SignInLinkRecord,
  TakeDownBody,
  TakeDownRecord,
  TakenDown,
  ToolBinding,
  ToolRecord,
  ToolServerAuth,
  ToolServerRecord,
  ToolServerStatus,
  UpstreamModel,
  UsageRecord,
  UserRecord,
  ValueChange,
  Workflow,
  WorkflowNode,
  WorkflowTarget,
} from "@gantry/wire";
export { providerTypes } from "@gantry/wire/provider-types";
export type { Account } from "./account.ts";
export type { Admin, AdminPlans, AdminTakeDowns, AdminUsers, BooksRecord, Turnover } from "./admin.ts";
export type { AgentList, Agents, NewAgent } from "./agents.ts";
export type { Aliases } from "./aliases.ts";
export { type ClientOptions, createClient, type GantryClient } from "./client.ts";
export type {
  DownloadOptions,
  DriveFileHead,
  DriveFiles,
  FileConditions,
  WriteOptions,
  WrittenFile,
} from "./drive-files.ts";
export type { Drives } from "./drives.ts";
export { GantryError, type GantryErrorType, type GantryIssue } from "./errors.ts";
export type { FileLink, Files, StoredFile } from "./files.ts";
export type { Input, InputField, JsonValue } from "./form.ts";
export type { IdpConnector } from "./idp.ts";
export type { AgentCardList, Marketplace } from "./marketplace.ts";
export type { ModelCard, ModelChange, ModelFilter, Models, NewModel } from "./models.ts";
export type { ListRange, Page, PageQuery, TimeRange, TimeRange as UsageRange } from "./pages.ts";
export { textOf, textSoFar } from "./prediction-events.ts";
export type {
  Prediction,
  PredictionResult,
  QueueMetrics,
  StreamDetails,
  StreamEvent,
  UserPart,
  Webhook,
} from "./prediction-records.ts";
export type { Predictions } from "./predictions.ts";
export type { ImportChoice, ImportResult, Providers } from "./providers.ts";
export type { RevisionList, Revisions } from "./revisions.ts";
export type { FollowOptions, RunEvent } from "./run-events.ts";
export type { Confirmations, RunFilter, RunList, Runs } from "./runs.ts";
export type { Secrets } from "./secrets.ts";
export type { FileContent, FileStream } from "./send-file.ts";
export type { ToolServerList, ToolServers } from "./tool-servers.ts";
export type { CallOptions } from "./transport.ts";
export type { DeliveryFilter, Webhooks } from "./webhooks.ts";
export type { WithDefaults } from "./with-defaults.ts";
