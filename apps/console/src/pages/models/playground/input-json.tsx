import { useEffect, useRef, useState } from "react";
import { CodeArea, Field } from "../../../ui/field.tsx";
import { pretty, readObject } from "../../../ui/json.rules.ts";
import { type FormValues, inputOf } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";
import { readInput } from "./kept-input.rules.ts";

interface InputJsonProps {
  fields: readonly FormField[];
  values: FormValues;
  problem: string | undefined;
  onValues(values: FormValues): void;
  /** Undefined while the text is an input. */
  onFault(fault: string | undefined): void;
}

/** The input as it is sent. Local files are not in it, and stay chosen. */
export function InputJson({ fields, values, problem, onValues, onFault }: InputJsonProps) {
  const asJson = () => pretty(withoutLocalFiles(inputOf(fields, values)));
  const [text, setText] = useState(asJson);
  const [fault, setFault] = useState<string>();
  const typed = useRef(values);
  // Reset and "Reuse input" change the values from outside.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only other values replace the text.
  useEffect(() => {
    if (typed.current === values) return;
    typed.current = values;
    setText(asJson());
    setFault(undefined);
    onFault(undefined);
  }, [values]);
  const change = (written: string) => {
    setText(written);
    const read = readObject(written);
    const found = "fault" in read ? read.fault : unknownText(readInput(fields, read.value).unknown);
    setFault(found);
    onFault(found);
    if ("fault" in read) return;
    typed.current = withLocalFiles(values, readInput(fields, read.value).values);
    onValues(typed.current);
  };
  return (
    <Field
      label="Input (JSON)"
      hint="The input as it is sent. Choose local files in the form."
      error={fault ?? problem}
    >
      {(control) => (
        <CodeArea
          {...control}
          className="field-sizing-content max-h-112 min-h-48"
          value={text}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}

const unknownText = (names: readonly string[]): string | undefined =>
  names.length === 0 ? undefined : `This model has no ${names.length === 1 ? "field" : "fields"} ${names.join(", ")}`;

function withoutLocalFiles(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isLocal = (value: unknown) => value instanceof File;
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => !isLocal(value))
      .map(([name, value]) => [name, Array.isArray(value) ? value.filter((each) => !isLocal(each)) : value]),
  );
}

function withLocalFiles(before: FormValues, after: FormValues): FormValues {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      const chosen = before[name];
      const local = typeof chosen === "object" ? chosen.filter((each) => each instanceof File) : [];
      return [name, typeof value === "object" ? [...local, ...value] : value];
    }),
  );
}
