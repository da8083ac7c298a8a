export type {
  AgentCard,
  AgentCreatedRecord,
  AgentRecord,
  AgentTool,
  ChangeAgentBody,
  ConfirmationRecord,
  CreateKeyBody,
  CreateRunBody,
  KeyRecord,
  MeRecord,
  RunErrorType,
  RunPhase,
  RunRecord,
  RunStatus,
} from "@gantry/wire";
export type { Account, Expenses, UsageRange, UsageRecord } from "./account.ts";
export type { AgentList, Agents, ListRange, NewAgent } from "./agents.ts";
export { type BooksRecord, type ClientOptions, createClient, type GantryClient } from "./client.ts";
export { GantryError, type GantryErrorType, type GantryIssue } from "./errors.ts";
export type { FileLink, Files, StoredFile } from "./files.ts";
export type { Input, InputField } from "./form.ts";
export type { ModelCard, Models } from "./models.ts";
export type { Page, PageQuery } from "./pages.ts";
export {
  type Prediction,
  type PredictionResult,
  type QueueMetrics,
  type StreamDetails,
  type StreamEvent,
  textOf,
  type UserPart,
  type Webhook,
} from "./prediction-records.ts";
export type { Predictions } from "./predictions.ts";
export type { FollowOptions, RunEvent, RunEventData } from "./run-events.ts";
export type { Confirmations, RunList, Runs } from "./runs.ts";
export type { CallOptions } from "./transport.ts";
