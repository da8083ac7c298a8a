import type { ServerToolRecord } from "@gantry/sdk";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { type FieldRow, fieldRows } from "../../ui/schema-text.rules.ts";

export function ToolEntry({ serverName, tool }: { serverName: string; tool: ServerToolRecord }) {
  const rows = fieldRows(tool.parameters);
  const [isRaw, setRaw] = useState(false);
  return (
    <details className="group">
      <summary className="flex items-start gap-2 px-4 py-2.5 hover:bg-sunken/60">
        <ChevronRight size={14} className="mt-1 shrink-0 text-muted transition group-open:rotate-90" />
        <span className="min-w-0 flex-1">
          <code className="break-all font-medium">{tool.name}</code>
          <span className="line-clamp-2 break-words text-muted text-xs group-open:line-clamp-none">
            {tool.description || "No description."}
          </span>
        </span>
      </summary>
      <div className="flex flex-col gap-3 px-4 pb-4 md:pl-10">
        <p className="text-muted text-xs">
          Agents call this tool as{" "}
          <code className="break-all">
            {serverName}__{tool.name}
          </code>
          .
        </p>
        {rows.length === 0 ? <p className="text-muted">No arguments.</p> : <Parameters rows={rows} />}
        <div>
          <Button kind="quiet" className="-ml-3" aria-expanded={isRaw} onClick={() => setRaw(!isRaw)}>
            {isRaw ? "Hide schema" : "Show schema"}
          </Button>
          {isRaw && <CodeBlock label="Input schema" text={pretty(tool.parameters)} />}
        </div>
      </div>
    </details>
  );
}

function Parameters({ rows }: { rows: readonly FieldRow[] }) {
  return (
    <dl className="grid gap-3">
      {rows.map(({ name, kind, isRequired, description, initial }) => (
        <div key={name}>
          <dt>
            <code className="break-all font-medium">{name}</code>{" "}
            <span className="text-muted text-xs">
              {kind}
              {isRequired && ", required"}
              {initial !== undefined && `, default ${initial}`}
            </span>
          </dt>
          {description && <dd className="break-words">{description}</dd>}
        </div>
      ))}
    </dl>
  );
}
