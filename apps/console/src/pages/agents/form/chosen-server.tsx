import { X } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import type { ServerBinding } from "./server-tools.tsx";

interface ChosenServerProps {
  binding: ServerBinding;
  /** Null: the server was deleted. Undefined: not known yet. */
  name: string | null | undefined;
  onRemove(): void;
}

export function ChosenServer({ binding: { id, tools }, name, onRemove }: ChosenServerProps) {
  const shown = name ?? id;
  return (
    <li className="flex flex-wrap items-center gap-2 px-3 py-2">
      <span className="min-w-0 flex-1 truncate">{name ?? <code>{id}</code>}</span>
      {name === null && <Badge tone="bad">Deleted</Badge>}
      <span className="text-muted text-xs">
        {tools ? `${tools.length} ${tools.length === 1 ? "tool" : "tools"}` : "All tools"}
      </span>
      <button
        type="button"
        aria-label={`Remove ${shown}`}
        className="rounded p-1 text-muted hover:bg-sunken hover:text-ink"
        onClick={onRemove}
      >
        <X size={14} />
      </button>
    </li>
  );
}
