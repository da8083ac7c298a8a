import type { z } from "zod";
import { accountGroup, keyGroup } from "./account/account-operations.ts";
import { adminGroup } from "./account/admin-operations.ts";
import { aliasGroup } from "./account/alias-operations.ts";
import { noticeGroup } from "./account/notice-operations.ts";
import { predictionGroup } from "./account/prediction-operations.ts";
import { providerGroup } from "./account/provider-operations.ts";
import { sessionGroup } from "./account/session-operations.ts";
import { fileGroup, secretGroup, webhookGroup } from "./account/storage-operations.ts";
import { teamGroup } from "./account/team-operations.ts";
import { agentGroup, marketplaceGroup } from "./agents/agent-operations.ts";
import { connectorGroup } from "./agents/connector-operations.ts";
import { driveGroup } from "./agents/drive-operations.ts";
import { runGroup } from "./agents/run-operations.ts";
import { scheduleGroup } from "./agents/schedule-operations.ts";
import { threadGroup } from "./agents/thread-operations.ts";
import { toolServerGroup } from "./agents/tool-server-operations.ts";
import { triggerGroup } from "./agents/trigger-operations.ts";
import { anthropicGroup, openaiGroup } from "./doors/door-operations.ts";
import { modelCallGroup, modelGroup } from "./models/model-operations.ts";
import type { Operation } from "./operation.ts";

export type { Operation } from "./operation.ts";

export const accountOperations = {
  ...accountGroup.operations,
  ...keyGroup.operations,
  ...teamGroup.operations,
  ...sessionGroup.operations,
  ...aliasGroup.operations,
  ...providerGroup.operations,
  ...predictionGroup.operations,
  ...fileGroup.operations,
  ...secretGroup.operations,
  ...webhookGroup.operations,
  ...noticeGroup.operations,
  ...adminGroup.operations,
};

export const agentsOperations = {
  ...agentGroup.operations,
  ...runGroup.operations,
  ...threadGroup.operations,
  ...scheduleGroup.operations,
  ...marketplaceGroup.operations,
  ...toolServerGroup.operations,
  ...driveGroup.operations,
  ...connectorGroup.operations,
  ...triggerGroup.operations,
};

export const modelOperations = { ...modelGroup.operations, ...modelCallGroup.operations };

export const doorOperations = { ...openaiGroup.operations, ...anthropicGroup.operations };

type Values<T> = T[keyof T];

/** A route as `GET /v1/agents/{agent_id}`. */
export type RouteOf<Op extends Operation> = Op extends Operation
  ? `${Uppercase<Op["method"]>} ${Op["base"]}${Op["path"] extends "/" ? "" : Op["path"]}`
  : never;

export type Route = RouteOf<
  | Values<typeof accountOperations>
  | Values<typeof agentsOperations>
  | Values<typeof modelOperations>
  | Values<typeof doorOperations>
>;

export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [Key in Name | keyof PathParams<Rest>]: string }
  : unknown;

export type QueryOf<Op extends Operation> = Op extends { query: infer Query extends z.ZodType }
  ? z.output<Query>
  : unknown;

export type BodyOf<Op extends Operation> = Op extends { body: infer Body extends z.ZodType } ? z.output<Body> : unknown;

interface PageFields {
  total?: number;
  limit?: number;
  offset?: number;
  page?: number;
  page_size?: number;
  total_count?: number;
  total_pages?: number;
}

/** The body that an operation answers with. */
export type AnswerOf<Op extends Operation> = Op extends { answer: infer Answer extends z.ZodType }
  ? Op extends { list: infer List extends string }
    ? { [Field in List]: readonly z.output<Answer>[] } & PageFields
    : z.output<Answer>
  : unknown;

export function routeOf<Op extends Operation>({ method, base, path }: Op): RouteOf<Op> {
  return `${method.toUpperCase()} ${base}${path === "/" ? "" : path}` as RouteOf<Op>;
}
