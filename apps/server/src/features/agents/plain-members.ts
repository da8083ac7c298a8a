import type { AgentSnapshot, AgentVisibility } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { type Caller, manages } from "../accounts/index.ts";
import { secretsNamedBy } from "./fixed-request.rules.ts";

/**
 * Plain members of a team change its agents, with two exceptions: a public agent can cost the team money and speaks for
 * it, and choosing where a request goes also chooses who gets the secrets in it.
 */
export function refusePlainMember(
  { team }: Caller,
  { visibility, tools }: { visibility: AgentVisibility; tools: AgentSnapshot["tools"] | undefined },
): void {
  if (team === null || manages(team.role)) return;
  const only = "Only admins and owners of the team";
  if (visibility === "public") throw fault("forbidden", `${only} may change or publish public agents.`);
  if (tools && secretsNamedBy(tools).length > 0) {
    throw fault("forbidden", `${only} may change or publish agents that send secrets of the team.`);
  }
}
