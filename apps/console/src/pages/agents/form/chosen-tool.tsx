import type { AgentTool, ConfirmPolicy, ToolBinding, ToolRecord } from "@gantry/sdk";
import { X } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { Select } from "../../../ui/field.tsx";
import { asTool, settingFields } from "./tool-settings.rules.ts";
import { ToolSettings } from "./tool-settings.tsx";

interface ChosenToolProps {
  tool: AgentTool;
  id: string;
  /** Undefined: the tool does not exist. */
  record: ToolRecord | undefined;
  onChange(tool: AgentTool): void;
  onRemove(): void;
}

export function ChosenTool({ tool, id, record, onChange, onRemove }: ChosenToolProps) {
  const binding: ToolBinding = typeof tool === "object" && tool.type === "tool" ? tool : { type: "tool", id };
  const settings = record?.settings;
  const isSetting = (name: string) =>
    settings !== undefined && settingFields(settings).some((field) => field.name === name);
  const fixed = Object.keys(binding.arguments ?? {}).filter((name) => !isSetting(name));
  const choose = (confirm: string) => {
    const { confirm: _before, ...rest } = binding;
    const after: ToolBinding = confirm === "" ? rest : { ...rest, confirm: confirm as ConfirmPolicy };
    onChange(asTool(after));
  };
  // The API refuses agents that write to the identity tenant without asking.
  const mustAsk = id.startsWith("idp_") && record?.kind === "write";
  return (
    <li className="flex flex-wrap items-center gap-2 px-3 py-2">
      <code className="min-w-0 flex-1 basis-full truncate sm:basis-0" title={record?.description}>
        {id}
      </code>
      {!record && <Badge tone="bad">Unknown</Badge>}
      {record?.kind === "write" && <Badge tone="warn">Writes</Badge>}
      {fixed.length > 0 && (
        <span title={`Fixed arguments: ${fixed.join(", ")}. Edit them as JSON.`}>
          <Badge tone="info">{fixed.length} fixed</Badge>
        </span>
      )}
      {binding.origin !== undefined && <Badge tone="info">Only {binding.origin}</Badge>}
      <Select
        aria-label={`Confirmation for ${id}`}
        className="min-w-28 max-w-52 flex-1 sm:flex-none"
        value={binding.confirm ?? ""}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">Default</option>
        <option value="always">Always ask</option>
        <option value="writes">Ask before writes</option>
        <option value="never" disabled={mustAsk}>
          Never ask
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
      {settings && <ToolSettings binding={binding} settings={settings} onChange={(after) => onChange(asTool(after))} />}
    </li>
  );
}
