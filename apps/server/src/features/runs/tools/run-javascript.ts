import type { Sandbox, SandboxResult } from "../../../engines/sandbox/sandbox.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { RunScope, RunTool, ToolOutcome } from "./run-tool.ts";
import { failedWith } from "./tool-failure.ts";

/** A program of the model's, in the sandbox. The value comes first: what is long is cut at its end. */
export function runJavascriptTool(info: ToolInfo, { sandbox }: { sandbox: Sandbox }, scope: RunScope): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    async execute({ arguments: given, signal }) {
      try {
        return outcomeOf(await sandbox.run(String(given.code), { whose: scope.userId, signal }));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Fault) || error.type !== "service_unavailable") throw error;
        return failedWith(`${error.message}. The program did not run: repeat later.`);
      }
    },
  };
}

function outcomeOf(result: SandboxResult): ToolOutcome {
  const said = result.ok ? result.value : result.error;
  const text = result.logs === "" ? said : `${said}\n\nLogged:\n${result.logs}`;
  return { text, isError: !result.ok };
}
