import type { ModelCard } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { modelQuery } from "../model-query.ts";
import { type Fault, faultsIn, readManifest } from "./manifest.rules.ts";

/** Saving a new model under a used name would replace the existing model. */
export class NameTaken extends Error {}

async function refuseTaken(model: string): Promise<void> {
  for await (const { endpoint_id } of api.models.each({ q: model })) {
    if (endpoint_id === model) throw new NameTaken("You already have a model with this name");
  }
}

interface Saved {
  model: string;
  text: string;
  isNew: boolean;
}

/** `initial` is shown, also when it changes, until the user edits it. */
export function useManifest(initial: string, onSaved: (card: ModelCard) => void) {
  const [edited, setEdited] = useState<string>();
  const text = edited ?? initial;
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    async mutationFn({ model, text: sent, isNew }: Saved) {
      const read = readManifest(sent);
      if ("faults" in read) {
        setFaults(read.faults);
        return undefined;
      }
      if (isNew) await refuseTaken(model);
      return api.models.put(model, read.manifest);
    },
    onSuccess(card, { text: sent }) {
      if (!card) return;
      setEdited((now) => (now === sent ? undefined : now));
      queries.setQueryData(modelQuery(card.endpoint_id).queryKey, card);
      void queries.invalidateQueries({ queryKey: ["models"] });
      onSaved(card);
    },
    onError: (error, { text: sent }) => setFaults(faultsIn(error, sent)),
  });
  const change = (changed: string) => {
    setEdited(changed === initial ? undefined : changed);
    setFaults([]);
    saving.reset();
  };
  return {
    text,
    change,
    faults,
    /** An error that is not shown at a line. */
    failure: saving.isError && faults.length === 0 ? saving.error : undefined,
    isSaving: saving.isPending,
    save(model: string, { isNew = false } = {}) {
      setFaults([]);
      saving.mutate({ model, text, isNew });
    },
  };
}

export type EditedManifest = ReturnType<typeof useManifest>;
