import type { AgentTool, ConfirmPolicy, ToolBinding, ToolRecord } from "@gantry/sdk";
import { X } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { Select } from "../../../ui/field.tsx";

interface ChosenToolProps {
  tool: AgentTool;
  id: string;
  /** Undefined: the service has no such tool. */
  record: ToolRecord | undefined;
  onChange(tool: AgentTool): void;
  onRemove(): void;
}

export function ChosenTool({ tool, id, record, onChange, onRemove }: ChosenToolProps) {
  const binding: ToolBinding = typeof tool === "object" && tool.type === "tool" ? tool : { type: "tool", id };
  const fixed = Object.keys(binding.arguments ?? {});
  const choose = (confirm: string) => {
    const { confirm: _before, ...rest } = binding;
    const after: ToolBinding = confirm === "" ? rest : { ...rest, confirm: confirm as ConfirmPolicy };
    // Without settings of its own the id alone is enough.
    onChange(Object.keys(after).length > 2 ? after : id);
  };
  // A write to the tenant always asks: the service refuses an agent that says otherwise.
  const mustAsk = id.startsWith("idp_") && record?.kind === "write";
  return (
    <li className="flex flex-wrap items-center gap-2 px-3 py-2">
      <code className="min-w-0 flex-1 basis-full truncate sm:basis-0" title={record?.description}>
        {id}
      </code>
      {!record && <Badge tone="bad">unknown</Badge>}
      {record?.kind === "write" && <Badge tone="warn">writes</Badge>}
      {fixed.length > 0 && (
        <span title={`Fixed: ${fixed.join(", ")}. Edit them as JSON.`}>
          <Badge tone="info">{fixed.length} fixed</Badge>
        </span>
      )}
      {binding.origin !== undefined && <Badge tone="info">only {binding.origin}</Badge>}
      <Select
        aria-label={`When ${id} asks`}
        className="max-w-52"
        value={binding.confirm ?? ""}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">Asks by default rules</option>
        <option value="always">Always asks</option>
        <option value="writes">Asks if it writes</option>
        <option value="never" disabled={mustAsk}>
          Never asks
        </option>
      </Select>
      <button
        type="button"
        aria-label={`Remove ${id}`}
        className="rounded p-1 text-muted hover:bg-sunken hover:text-ink"
        onClick={onRemove}
      >
        <X size={14} />
      </button>
    </li>
  );
}
