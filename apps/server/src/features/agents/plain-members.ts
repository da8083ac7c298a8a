import type { AgentSnapshot, AgentVisibility } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { type Caller, isPlainMember } from "../accounts/index.ts";
import { bindingId } from "./binding.rules.ts";
import { secretsNamedBy } from "./fixed-request.rules.ts";

/**
 * Plain members of a team change its agents, with three exceptions: a public agent can cost the team money and speaks for
 * it, choosing where a request goes also chooses who gets the secrets in it, and plain members do not use the connector.
 */
export function refusePlainMember(
  caller: Caller,
  { visibility, tools = [] }: { visibility: AgentVisibility; tools?: AgentSnapshot["tools"] | undefined },
): void {
  if (!isPlainMember(caller)) return;
  const only = "Only admins and owners of the team";
  if (visibility === "public") throw fault("forbidden", `${only} may change, publish or delete public agents.`);
  if (secretsNamedBy(tools).length > 0) {
    throw fault("forbidden", `${only} may change or publish agents that send secrets of the team.`);
  }
  if (tools.some((tool) => bindingId(tool).startsWith("idp_"))) {
    throw fault("forbidden", `${only} may change or publish agents that use the identity connector.`);
  }
}
