import type { Sandbox, SandboxResult } from "../../../engines/sandbox/sandbox.ts";
import { Fault, isUnavailable } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { RunScope, RunTool, ToolOutcome } from "./run-tool.ts";
import { failedWith } from "./tool-failure.ts";

/** Runs a program of the model in the sandbox. The value comes first, because long results are truncated at the end. */
export function runJavascriptTool(info: ToolInfo, { sandbox }: { sandbox: Sandbox }, scope: RunScope): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    async execute({ arguments: given, signal }) {
      try {
        return outcomeOf(await sandbox.run(String(given.code), { userId: scope.userId, signal }));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Fault) || !isUnavailable(error)) throw error;
        return failedWith(`${error.message}. The program did not run. Try again later.`);
      }
    },
  };
}

function outcomeOf(result: SandboxResult): ToolOutcome {
  const value = result.ok ? result.value : result.error;
  const text = result.logs === "" ? value : `${value}\n\nLogged:\n${result.logs}`;
  return { text, isError: !result.ok };
}
