import type { CreateRunBody, MissedPolicy, OverlapPolicy, RunLeave } from "@gantry/wire";
import type { CronTimes } from "../../engines/cron/cron.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";

/** What its user chooses. */
export interface ScheduleSettings extends CronTimes {
  name: string | null;
  input: Readonly<Record<string, unknown>>;
  missed: MissedPolicy;
  overlap: OverlapPolicy;
  enabled: boolean;
  maxCost: Micros | null;
  approve: readonly string[];
  connectors: readonly RunLeave[];
  threadId: string | null;
  expectedPrice: Micros | null;
}

export interface Schedule extends ScheduleSettings {
  id: string;
  userId: string;
  /** Runs use it. */
  keyId: string;
  agentId: string;
  /** The current name of an agent that the user may run, else the last known one. */
  agentName: string;
  /** The agent was deleted, unpublished or hidden since the schedule was last looked at. */
  isAgentGone: boolean;
  baseUrl: string;
  pausedReason: string | null;
  revision: number;
  nextAt: Date | null;
  upcoming: readonly Date[];
  lastDueAt: Date | null;
  lastRunId: string | null;
  lastSkippedAt: Date | null;
  skippedReason: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Due times that readers see. */
export const shownTimes = 5;

export function scheduleNotFound(): Fault {
  return fault("not_found", "Schedule not found");
}

export function isActive({ enabled, pausedReason }: Pick<Schedule, "enabled" | "pausedReason">): boolean {
  return enabled && pausedReason === null;
}

type RunSettings = Pick<
  ScheduleSettings,
  "input" | "maxCost" | "approve" | "connectors" | "threadId" | "expectedPrice" | "overlap"
>;

/** The body of a run of the schedule. */
export function runBodyOf(settings: RunSettings): CreateRunBody {
  const { maxCost, expectedPrice, threadId } = settings;
  return {
    input: { ...settings.input },
    approve: [...settings.approve],
    connectors: [...settings.connectors],
    ...(maxCost !== null && { max_cost: dollarsOfMicros(maxCost) }),
    ...(expectedPrice !== null && { expected_price: dollarsOfMicros(expectedPrice) }),
    ...(threadId !== null && { thread_id: threadId }),
  };
}

/** Runs of a thread wait for each other anyway. */
export function sequenceOf(id: string, { overlap, threadId }: RunSettings): string | undefined {
  return overlap === "queue" && threadId === null ? id : undefined;
}
