import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { type ControlProps, TextInput } from "../../ui/field.tsx";

interface ModelListInputProps {
  control: ControlProps;
  models: readonly string[];
  onModels(models: readonly string[]): void;
}

export function ModelListInput({ control, models, onModels }: ModelListInputProps) {
  const [text, setText] = useState("");
  const listId = useId();
  const q = text.trim();
  const suggested = useQuery({
    queryKey: ["models", "suggested", q],
    queryFn: ({ signal }) => api.models.list({ ...(q && { q }), signal }),
    staleTime: 60_000,
  });
  const add = () => {
    if (q === "") return;
    onModels([...new Set([...models, q])]);
    setText("");
  };
  const addOnEnter = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    // Enter adds the model; it must not submit the form.
    event.preventDefault();
    add();
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex gap-2">
        <TextInput
          {...control}
          list={listId}
          placeholder="owner/model"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={addOnEnter}
        />
        <datalist id={listId}>
          {suggested.data?.results.map(({ endpoint_id, title }) => (
            <option key={endpoint_id} value={endpoint_id}>
              {title}
            </option>
          ))}
        </datalist>
        <Button icon={<Plus size={14} />} onClick={add} disabled={q === ""}>
          Add
        </Button>
      </div>
      {models.length > 0 && (
        <ul className="flex flex-wrap gap-1.5" aria-label="Models">
          {models.map((model) => (
            <li key={model} className="flex items-center gap-1 rounded bg-sunken py-0.5 pr-1 pl-2">
              <code className="text-xs">{model}</code>
              <button
                type="button"
                aria-label={`Remove ${model}`}
                className="rounded p-0.5 text-muted hover:text-ink"
                onClick={() => onModels(models.filter((name) => name !== model))}
              >
                <X size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
