import type { ModelCard } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { type Fault, faultsIn, readManifest } from "./manifest.rules.ts";

/** A manifest while it is edited: its text, what is wrong with it, and how it is stored. */
export function useManifest(first: string, onSaved: (card: ModelCard) => void) {
  const [text, setText] = useState(first);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: async ({ model, text: sent }: { model: string; text: string }) => {
      const read = readManifest(sent);
      if ("manifest" in read) return api.models.put(model, read.manifest);
      setFaults(read.faults);
      return undefined;
    },
    onSuccess(card) {
      if (!card) return;
      queries.setQueryData(["model", card.endpoint_id], card);
      void queries.invalidateQueries({ queryKey: ["models"] });
      onSaved(card);
    },
    onError: (error, { text: sent }) => setFaults(faultsIn(error, sent)),
  });
  const change = (changed: string) => {
    setText(changed);
    setFaults([]);
    saving.reset();
  };
  return {
    text,
    change,
    faults,
    /** What failed and is not shown at a line. */
    failure: saving.isError && faults.length === 0 ? saving.error : undefined,
    isSaving: saving.isPending,
    save: (model: string) => {
      setFaults([]);
      saving.mutate({ model, text });
    },
  };
}

export type EditedManifest = ReturnType<typeof useManifest>;
