import { fault } from "../../../kernel/errors.ts";
import { isPlainMember } from "../../accounts/index.ts";
import type { ToolInfo } from "../../agents/index.ts";
import { type IdpConnector, maskCall } from "../../connectors/idp/index.ts";
import { isOwnersOwnRun, mayUse, type RunScope, type RunTool } from "./run-tool.ts";
import { failedWith, outcomeOfFailure } from "./tool-failure.ts";

const notAllowed =
  'The caller of this run has not allowed the agent to use its identity connector. To allow it, create the run with connectors: ["idp"]';

const confinedKey = "The API key that started this run is limited to some models and cannot use the identity connector";

const plainMember =
  "Only admins and owners of a team may let agents of others use its identity connector. The caller of this run is a plain member";

function refusalOf(scope: RunScope): string | undefined {
  if (scope.caller?.models !== null) return confinedKey;
  if (!mayUse(scope, "idp")) return notAllowed;
  return isPlainMember(scope.caller) && !isOwnersOwnRun(scope) ? plainMember : undefined;
}

/**
 * The arguments for events; undefined for other tools. A model may call an action that the agent does not have, with the
 * same secrets. Arguments that are not JSON cannot be masked in part.
 */
export function maskIdpCall(
  name: string,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const masked = maskCall(name, given);
  return masked && "__invalid" in given ? { __invalid: "[hidden]" } : masked;
}

/** An action on the caller's identity tenant. Other users' agents need the caller's permission. */
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
    // Some limits of the table are only advice, which a schema cannot express.
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
    mask: (given) => maskIdpCall(info.id, given) ?? {},
    ...(isWrite && {
      async preview({ arguments: given, signal }) {
        if (refusal !== undefined) throw fault("forbidden", refusal);
        return { ...(await idp.previewWrite(userId, info.id, given, signal)) };
      },
    }),
  };
}
