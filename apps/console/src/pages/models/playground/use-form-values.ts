import { useEffect, useRef, useState } from "react";
import { useModelAddress } from "../use-model-address.ts";
import { addressOf, inputInAddress } from "./form-address.rules.ts";
import { type FormValues, initialValues } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";
import { readInput } from "./kept-input.rules.ts";
import { longTexts } from "./long-texts.ts";

/** Waits for a pause in typing. */
const pauseMs = 300;

const valuesIn = (fields: readonly FormField[], address: Record<string, unknown> | undefined): FormValues =>
  address === undefined ? initialValues(fields) : readInput(fields, inputInAddress(address, longTexts)).values;

/** The values of the form, which the address follows. */
export function useFormValues(fields: readonly FormField[]) {
  const { search, change } = useModelAddress();
  const [values, setValues] = useState(() => valuesIn(fields, search.f));
  const latest = useRef(values);
  const written = useRef(JSON.stringify(search.f));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = (shown: FormValues) => {
    latest.current = shown;
    setValues(shown);
  };
  // Back, Forward, or a link to other values.
  useEffect(() => {
    const json = JSON.stringify(search.f);
    if (json === written.current) return;
    written.current = json;
    clearTimeout(timer.current);
    const shown = valuesIn(fields, search.f);
    latest.current = shown;
    setValues(shown);
  }, [search.f, fields]);
  useEffect(() => () => clearTimeout(timer.current), []);

  /** Before the page is left, or when a value must not wait. */
  const save = (others: { from?: undefined } = {}) => {
    clearTimeout(timer.current);
    const f = addressOf(fields, latest.current, longTexts);
    const json = JSON.stringify(f);
    if (json === written.current && !("from" in others)) return;
    written.current = json;
    change({ f, ...others });
  };
  return {
    values,
    set(changed: FormValues) {
      show(changed);
      clearTimeout(timer.current);
      timer.current = setTimeout(save, pauseMs);
    },
    save,
    /** Replaces all values with those of an earlier prediction. */
    reuse(changed: FormValues) {
      show(changed);
      save({ from: undefined });
    },
  };
}

export type ShownForm = ReturnType<typeof useFormValues>;
