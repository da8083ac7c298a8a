import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { errorText } from "../../ui/error-text.rules.ts";
import { type ControlProps, TextInput } from "../../ui/field.tsx";

interface ModelListInputProps {
  control: ControlProps;
  models: readonly string[];
  /** A name is checked before it is added, so the list may have changed since the last render. */
  onModels(change: (models: readonly string[]) => readonly string[]): void;
}

const suggestedQuery = (q: string) =>
  queryOptions({
    queryKey: ["models", "suggested", q],
    queryFn: ({ signal }) => api.models.list({ ...(q && { q }), signal }),
    staleTime: 60_000,
  });

/** Completes names of models, and adds only those that exist. Agents are checked by the server. */
export function ModelListInput({ control, models, onModels }: ModelListInputProps) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const listId = useId();
  const queries = useQueryClient();
  const q = text.trim();
  const suggested = useQuery(suggestedQuery(q));
  const include = (model: string) => {
    onModels((now) => [...new Set([...now, model])]);
    setText((now) => (now.trim() === q ? "" : now));
    setProblem(undefined);
  };
  const add = async () => {
    if (q === "") return;
    if (q.startsWith("agents/")) return include(q);
    try {
      const { results } = await queries.fetchQuery(suggestedQuery(q));
      if (results.some(({ endpoint_id }) => endpoint_id === q)) return include(q);
      const [first] = results;
      setProblem(`Model ${q} does not exist.${first ? ` Did you mean ${first.endpoint_id}?` : ""}`);
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  const type = (typed: string, isChosen: boolean) => {
    setProblem(undefined);
    if (isChosen && suggested.data?.results.some(({ endpoint_id }) => endpoint_id === typed)) include(typed);
    else setText(typed);
  };
  const addOnEnter = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    // Enter adds the model; it must not submit the form.
    event.preventDefault();
    void add();
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex gap-2">
        <TextInput
          {...control}
          {...(problem && { "aria-invalid": true, "aria-errormessage": `${listId}-problem` })}
          list={listId}
          placeholder="owner/model"
          value={text}
          onChange={({ target, nativeEvent }) => type(target.value, isChoice(nativeEvent))}
          onKeyDown={addOnEnter}
        />
        <datalist id={listId}>
          {suggested.data?.results.map(({ endpoint_id, title }) => (
            <option key={endpoint_id} value={endpoint_id}>
              {title}
            </option>
          ))}
        </datalist>
        <Button icon={<Plus size={14} />} onClick={() => void add()} disabled={q === ""}>
          Add
        </Button>
      </div>
      {problem && (
        <p id={`${listId}-problem`} role="alert" className="text-bad text-xs">
          {problem}
        </p>
      )}
      {models.length > 0 && (
        <ul className="flex flex-wrap gap-1.5" aria-label="Models">
          {models.map((model) => (
            <li key={model} className="flex items-center gap-1 rounded bg-sunken py-0.5 pr-1 pl-2">
              <code className="text-xs">{model}</code>
              <button
                type="button"
                aria-label={`Remove ${model}`}
                className="rounded p-0.5 text-muted hover:text-ink"
                onClick={() => onModels((now) => now.filter((name) => name !== model))}
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

/** Browsers report a chosen suggestion as a replacement, or without saying how. */
const isChoice = (event: Event): boolean =>
  !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
