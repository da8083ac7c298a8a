import type { ModelFilter } from "@gantry/sdk";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Select, TextInput } from "../../ui/field.tsx";
import { modelKinds } from "./model-kinds.ts";

/** Nobody wants a list for each letter of a word. */
const pauseMs = 250;

interface ModelFiltersProps {
  q: string | undefined;
  kind: ModelFilter["kind"];
  onChange(search: { q: string | undefined } | { kind: ModelFilter["kind"] }): void;
}

export function ModelFilters({ q = "", kind, onChange }: ModelFiltersProps) {
  const [text, setText] = useState(q);
  const told = useRef(onChange);
  told.current = onChange;
  // What was typed before is not what is shown after a link led elsewhere in the list.
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text.trim() === q) return;
    const timer = setTimeout(() => told.current({ q: text.trim() || undefined }), pauseMs);
    return () => clearTimeout(timer);
  }, [text, q]);
  return (
    <search className="flex flex-wrap gap-2">
      <div className="relative min-w-48 flex-1 sm:max-w-80">
        <Search size={14} className="absolute top-2.5 left-2.5 text-muted" aria-hidden />
        <TextInput
          type="search"
          aria-label="Search by name or title"
          placeholder="Search by name or title"
          className="pl-8"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <div className="w-36">
        <Select
          aria-label="Kind"
          value={kind ?? ""}
          onChange={(event) => onChange({ kind: modelKinds.find((one) => one === event.target.value) })}
        >
          <option value="">All kinds</option>
          {modelKinds.map((one) => (
            <option key={one} value={one}>
              {one[0]?.toUpperCase() + one.slice(1)}
            </option>
          ))}
        </Select>
      </div>
    </search>
  );
}
