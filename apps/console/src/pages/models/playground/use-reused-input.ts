import type { PredictionRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { predictionQuery } from "../../predictions/prediction-queries.ts";
import { useModelAddress } from "../use-model-address.ts";
import type { FormField } from "./input-form.rules.ts";
import { readInput } from "./kept-input.rules.ts";
import { reuseNote } from "./reuse-note.rules.ts";
import type { ShownForm } from "./use-form-values.ts";

/** Fills the form from the prediction in the address, and returns what could not be filled. */
export function useReusedInput(
  fields: readonly FormField[],
  form: ShownForm,
  onConversation: (input: Readonly<Record<string, unknown>>) => boolean,
) {
  const { search, change } = useModelAddress();
  const { from } = search;
  const source = useQuery({ ...predictionQuery(from ?? ""), enabled: from !== undefined, throwOnError: false });
  const [note, setNote] = useState<string>();
  const fill = (record: PredictionRecord) => {
    if (record.input && onConversation(record.input)) return;
    const read = record.input && readInput(fields, record.input);
    setNote(reuseNote(record, read ?? undefined));
    if (read) form.reuse(read.values);
    else change({ from: undefined });
  };
  const latestFill = useRef(fill);
  latestFill.current = fill;
  useEffect(() => {
    if (source.data && source.data.id === from) latestFill.current(source.data);
  }, [source.data, from]);
  return {
    note,
    error: from === undefined ? undefined : (source.error ?? undefined),
    dismiss: () => setNote(undefined),
  };
}
