import type { ImportResult } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Badge } from "../../ui/badge.tsx";
import type { Tone } from "../../ui/toast.ts";

const outcomes: Record<ImportResult["outcome"], { label: string; tone: Tone }> = {
  created: { label: "Imported", tone: "good" },
  updated: { label: "Updated", tone: "info" },
  unchanged: { label: "Unchanged", tone: "plain" },
  gone: { label: "No longer offered", tone: "warn" },
  failed: { label: "Failed", tone: "bad" },
};

export function ImportSummary({ results }: { results: readonly ImportResult[] }) {
  return (
    <ul aria-label="Results" className="flex flex-col gap-2">
      {results.map((result) => (
        <li key={result.id} className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
          <Badge tone={outcomes[result.outcome].tone}>{outcomes[result.outcome].label}</Badge>
          <ModelName result={result} />
          {notesOf(result).map((note) => (
            <p key={note} className="w-full text-muted text-xs">
              {note}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

function ModelName({ result: { id, endpoint_id } }: { result: ImportResult }) {
  const [owner = "", name = ""] = (endpoint_id ?? "").split("/");
  if (name === "") return <code className="wrap-anywhere">{id}</code>;
  return (
    <Link to="/models/$owner/$name" params={{ owner, name }} className="wrap-anywhere text-accent hover:underline">
      {endpoint_id}
    </Link>
  );
}

function notesOf({ outcome, kept, message }: ImportResult): string[] {
  return [
    ...(message === null ? [] : [message]),
    ...(outcome === "gone" && message === null ? ["The provider no longer serves this model. It stays as it is."] : []),
    ...(kept.length === 0 ? [] : [`Kept your changes: ${kept.join(", ")}`]),
  ];
}
