import type { Database } from "../../../engines/database/database.ts";
import type { Net } from "../../../engines/net/net.ts";
import type { Vault } from "../../../engines/vault/vault.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { type Action, actions, upstreamOf } from "./action-table.ts";
import { type CallerDeps, defaultTenantLimits, type IdpContext, realSleep, type TenantLimits } from "./call-tenant.ts";
import { checkArguments } from "./check-arguments.ts";
import { configureConnector, recordConnector } from "./configure-connector.ts";
import { type ToolInfo, toolOf } from "./describe-action.rules.ts";
import { callAction, previewWrite, type WritePreview } from "./preview-write.ts";
import { type ActionOutcome, type Arguments, actionOrThrow, runAction } from "./run-action.ts";
import {
  type Connector,
  connectorTrouble,
  deleteConnector,
  readConnector,
  selectConnector,
} from "./stored-connector.ts";
import { TenantGate } from "./tenant-gate.ts";
import { isAllowed } from "./token-claims.rules.ts";

export interface ListedAction extends ToolInfo {
  action: Action;
  upstream: { method: string; path: string };
  deprecated: boolean;
  /** Whether the stored token has a scope for it; null if unknown. */
  allowedByToken: boolean | null;
}

/** One tenant per user, with 60 actions. */
export interface IdpConnector {
  configure(userId: string, given: { domain: string; token: string }): Promise<Connector>;
  read(userId: string): Promise<Connector>;
  /** Why every action would fail now, if known. */
  trouble(userId: string): Promise<string | undefined>;
  remove(userId: string): Promise<void>;
  listActions(userId: string): Promise<ListedAction[]>;
  /** For agents. The MCP endpoint offers only those of kind `read`. */
  describeTools(): ToolInfo[];
  /** Throws one fault with all issues of the arguments, like `runAction`. */
  checkArguments(name: string, given: Arguments): void;
  /** The confirmation before a write. Checks the arguments. */
  previewWrite(userId: string, name: string, given: Arguments, signal?: AbortSignal): Promise<WritePreview>;
  /** Also runs writes: the caller must have the confirmation. */
  runAction(userId: string, name: string, given: Arguments, signal?: AbortSignal): Promise<ActionOutcome>;
  /** For the direct route: a write without `confirm` throws `confirmation_required` with the preview. */
  callAction(
    userId: string,
    name: string,
    call: { arguments: Arguments; confirm: boolean; signal?: AbortSignal },
  ): Promise<ActionOutcome>;
}

export interface IdpDeps {
  database: Database;
  vault: Vault;
  net: Net;
  clock: Clock;
  log: Log;
  limits?: Partial<TenantLimits>;
  /** Replaced in tests. */
  sleep?: CallerDeps["sleep"];
}

export function openIdpConnector({ limits, sleep = realSleep, ...deps }: IdpDeps): IdpConnector {
  const context: IdpContext = {
    ...deps,
    gate: new TenantGate(),
    limits: { ...defaultTenantLimits, ...limits },
    sleep,
    random: Math.random,
  };
  const tools = actions.map(toolOf);

  return {
    configure: (userId, given) => configureConnector(context, userId, given),
    read: (userId) => readConnector(context, userId),
    trouble: (userId) => connectorTrouble(context, userId),
    async remove(userId) {
      const isDeleted = await context.database.transaction(async (tx) => {
        const before = await selectConnector(tx, userId);
        if (!before || !(await deleteConnector(tx, userId))) return false;
        await recordConnector(tx, "connector.delete", userId, { before });
        return true;
      });
      if (!isDeleted) {
        throw fault("not_found", "The identity connector is not set up");
      }
    },
    async listActions(userId) {
      const scopes = (await selectConnector(context.database.sql, userId))?.scopes ?? null;
      return actions.map((action) => ({
        ...toolOf(action),
        action,
        upstream: upstreamOf(action),
        deprecated: action.deprecated === true,
        allowedByToken: isAllowed(scopes, action.scopes),
      }));
    },
    describeTools: () => tools,
    checkArguments(name, given) {
      checkArguments(actionOrThrow(name), given);
    },
    previewWrite: (userId, name, given, signal) => previewWrite(context, userId, name, given, signal),
    runAction: (userId, name, given, signal) => runAction(context, userId, name, given, signal),
    callAction: (userId, name, call) => callAction(context, userId, name, call),
  };
}
