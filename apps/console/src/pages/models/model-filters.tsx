import type { ModelFilter } from "@gantry/sdk";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Select, TextInput } from "../../ui/field.tsx";
import { kindLabels, modelKinds } from "./model-kinds.ts";

/** Waits for a pause in typing. */
const pauseMs = 250;

interface ModelFiltersProps {
  q: string | undefined;
  kind: ModelFilter["kind"];
  onChange(search: { q: string | undefined } | { kind: ModelFilter["kind"] }): void;
}

export function ModelFilters({ q = "", kind, onChange }: ModelFiltersProps) {
  const [text, setText] = useState(q);
  const latestOnChange = useRef(onChange);
  latestOnChange.current = onChange;
  // A link may change the search.
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text.trim() === q) return;
    const timer = setTimeout(() => latestOnChange.current({ q: text.trim() || undefined }), pauseMs);
    return () => clearTimeout(timer);
  }, [text, q]);
  return (
    <search className="flex flex-wrap gap-2">
      <div className="relative min-w-48 flex-1 sm:max-w-80">
        <Search size={14} className="absolute top-2.5 left-2.5 text-muted" aria-hidden />
        <TextInput
          type="search"
          aria-label="Search models"
          placeholder="Search by name or description"
          className="pl-8"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <div className="w-36">
        <Select
          aria-label="Type"
          value={kind ?? ""}
          onChange={(event) => onChange({ kind: modelKinds.find((modelKind) => modelKind === event.target.value) })}
        >
          <option value="">All types</option>
          {modelKinds.map((modelKind) => (
            <option key={modelKind} value={modelKind}>
              {kindLabels[modelKind]}
            </option>
          ))}
        </Select>
      </div>
    </search>
  );
}
