import { fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { IdpConnector } from "../../connectors/idp/index.ts";
import type { RunScope, RunTool } from "./run-tool.ts";
import { failedWith, outcomeOfFailure } from "./tool-failure.ts";

const notAllowed =
  'The caller of this run does not let the agent use its identity connector: it would have to create the run with connectors: ["idp"]';

/** An action of the identity connector, on the caller's own tenant. Another's agent needs the caller's leave for it. */
export function idpTool(info: ToolInfo, { idp }: { idp: IdpConnector }, scope: RunScope): RunTool {
  const { userId } = scope.caller;
  const isAllowed = userId === scope.ownerId || scope.connectors.includes("idp");
  const isWrite = info.kind === "write";

  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: isWrite,
    async execute({ arguments: given, signal }) {
      if (!isAllowed) return failedWith(notAllowed);
      try {
        const { forModel, oneTimeSecret } = await idp.runAction(userId, info.id, given, signal);
        return { text: JSON.stringify(forModel), isError: false, ...(oneTimeSecret && { oneTimeSecret }) };
      } catch (error) {
        return outcomeOfFailure(error, signal);
      }
    },
    mask: (given) => idp.maskArguments(info.id, given),
    ...(isWrite && {
      async preview({ arguments: given, signal }) {
        if (!isAllowed) throw fault("forbidden", notAllowed);
        return { ...(await idp.previewWrite(userId, info.id, given, signal)) };
      },
    }),
  };
}
