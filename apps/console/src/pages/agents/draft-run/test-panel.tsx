import type { CreateRunBody } from "@gantry/sdk";
import { Panel } from "../../../ui/page.tsx";
import { RunForm } from "../run/run-form.tsx";
import { TestRun } from "./test-run.tsx";

interface TestPanelProps {
  /** Undefined: not saved yet. */
  agentId?: string;
  schema: Record<string, unknown>;
  isDirty: boolean;
  /** Saves the draft if it changed. */
  prepare?(wanted: CreateRunBody): Promise<CreateRunBody>;
  /** Creates the agent and runs it. */
  send?(wanted: CreateRunBody, idempotencyKey: string): Promise<{ id: string }>;
  onStarted(runId: string): void | Promise<void>;
  /** The run to show. */
  runId?: string | undefined;
}

/** Runs the draft beside the form. */
export function TestPanel({ agentId, schema, isDirty, prepare, send, onStarted, runId }: TestPanelProps) {
  const isNew = agentId === undefined;
  return (
    <aside
      id="test"
      aria-label="Test"
      className="flex min-w-0 flex-col gap-4 xl:sticky xl:top-4 xl:max-h-[calc(100vh-2rem)] xl:overflow-y-auto"
    >
      <Panel title="Test">
        <div className="flex flex-col gap-4">
          <p className="text-muted">
            {isDirty || isNew
              ? "A test runs the saved draft, so your changes are saved as a draft first. Nothing is published."
              : "Runs the saved draft. Nothing is published."}
          </p>
          <RunForm
            agent={agentId ?? ""}
            schema={schema}
            label={isNew ? "Create draft and run" : isDirty ? "Save draft and run" : "Run draft"}
            {...(prepare && { prepare })}
            {...(send && { send })}
            onStarted={onStarted}
          />
        </div>
      </Panel>
      {runId !== undefined && <TestRun key={runId} runId={runId} />}
    </aside>
  );
}
