import { fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import { type IdpConnector, maskCall } from "../../connectors/idp/index.ts";
import { mayUse, type RunScope, type RunTool } from "./run-tool.ts";
import { failedWith, outcomeOfFailure } from "./tool-failure.ts";

const notAllowed =
  'The caller of this run does not let the agent use its identity connector: it would have to create the run with connectors: ["idp"]';

const confinedKey = "The API key that started this run is limited to some models and cannot use the identity connector";

/** Why the run may not use the caller's connector, if it may not. */
function refusalOf(scope: RunScope): string | undefined {
  if (scope.caller?.models !== null) return confinedKey;
  return mayUse(scope, "idp") ? undefined : notAllowed;
}

/**
 * A call as events may show it; undefined where it is none of the connector's. A model may call an action that the agent
 * does not have, with the same secrets, and what is no JSON cannot be looked into.
 */
export function maskIdpCall(
  name: string,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const masked = maskCall(name, given);
  return masked && "__invalid" in given ? { __invalid: "[hidden]" } : masked;
}

/** An action of the identity connector, on the caller's own tenant. Another's agent needs the caller's leave for it. */
export function idpTool(info: ToolInfo, { idp }: { idp: IdpConnector }, scope: RunScope): RunTool {
  const { userId } = scope;
  const refusal = refusalOf(scope);
  const isWrite = info.kind === "write";

  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: isWrite,
    // Some bounds of the table are only advice, which a schema cannot say.
    check: (given) => idp.checkArguments(info.id, given),
    async execute({ arguments: given, signal }) {
      if (refusal !== undefined) return failedWith(refusal);
      try {
        const { forModel, oneTimeSecret } = await idp.runAction(userId, info.id, given, signal);
        return { text: JSON.stringify(forModel), isError: false, ...(oneTimeSecret && { oneTimeSecret }) };
      } catch (error) {
        return outcomeOfFailure(error, signal);
      }
    },
    async target() {
      if (refusal !== undefined) throw fault("forbidden", refusal);
      return (await idp.read(userId)).domain;
    },
    // What is no JSON cannot be looked into.
    mask: (given) => maskIdpCall(info.id, given) ?? {},
    ...(isWrite && {
      async preview({ arguments: given, signal }) {
        if (refusal !== undefined) throw fault("forbidden", refusal);
        return { ...(await idp.previewWrite(userId, info.id, given, signal)) };
      },
    }),
  };
}
