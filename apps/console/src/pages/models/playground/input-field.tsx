import { useId } from "react";
import { Checkbox, CodeArea, type ControlProps, Field, Select, TextArea, TextInput } from "../../../ui/field.tsx";
import { boundsText, hint } from "../../../ui/schema-form.rules.ts";
import { FilesControl } from "./files-control.tsx";
import type { FormValue } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";

interface InputFieldProps {
  field: FormField;
  value: FormValue;
  problem: string | undefined;
  onValue(value: FormValue): void;
}

export function InputField({ field, value, problem, onValue }: InputFieldProps) {
  if (field.control.kind === "switch")
    return <Switch field={field} value={value} problem={problem} onValue={onValue} />;
  const { label, isRequired } = field;
  return (
    <Field label={label} hint={hintOf(field)} error={problem} required={isRequired}>
      {(props) => <InputControl field={field} value={value} onValue={onValue} props={props} />}
    </Field>
  );
}

/** A checkbox comes before its label. */
function Switch({ field: { label, hint }, value, problem, onValue }: InputFieldProps) {
  const id = useId();
  const description = problem ?? hint;
  return (
    <div className="flex flex-col gap-1">
      <Checkbox
        label={<span className="font-medium">{label}</span>}
        checked={value === true}
        aria-invalid={problem === undefined ? undefined : true}
        aria-describedby={description === undefined ? undefined : id}
        onChange={(event) => onValue(event.target.checked)}
      />
      {description !== undefined && (
        <p id={id} className={`text-xs ${problem === undefined ? "text-muted" : "text-bad"}`}>
          {description}
        </p>
      )}
    </div>
  );
}

function hintOf({ hint: description, control }: FormField): string | undefined {
  if (control.kind === "number") return hint(description, [boundsText({ minimum: control.min, maximum: control.max })]);
  return hint(description, control.kind === "json" ? ["JSON."] : []);
}

function InputControl({
  field: { name, label, isRequired, initial, control },
  value,
  onValue,
  props,
}: Pick<InputFieldProps, "field" | "value" | "onValue"> & { props: ControlProps }) {
  if (control.kind === "files") {
    return (
      <FilesControl
        control={props}
        label={label}
        accept={control.accept}
        max={control.max}
        files={typeof value === "object" ? value : []}
        onFiles={onValue}
      />
    );
  }
  const text = typeof value === "string" ? value : "";
  const common = { ...props, name, value: text };
  switch (control.kind) {
    case "choice":
      return (
        <Select {...common} onChange={(event) => onValue(event.target.value)}>
          {/* With a default, an empty choice would mean the same as the default. */}
          {(initial === undefined || text === "") && <option value="">{isRequired ? "Choose" : "Not set"}</option>}
          {control.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
      );
    case "number":
      return (
        <TextInput
          {...common}
          type="number"
          className="sm:max-w-48"
          min={control.min}
          max={control.max}
          step={control.isWhole ? 1 : "any"}
          onChange={(event) => onValue(event.target.value)}
        />
      );
    case "json":
      return (
        <CodeArea
          {...common}
          className="field-sizing-content max-h-80 min-h-16"
          onChange={(event) => onValue(event.target.value)}
        />
      );
    default:
      return control.kind === "text" && control.isLong ? (
        <TextArea
          {...common}
          rows={1}
          className={`field-sizing-content max-h-80 ${isRequired ? "min-h-24" : ""}`}
          onChange={(event) => onValue(event.target.value)}
        />
      ) : (
        <TextInput {...common} onChange={(event) => onValue(event.target.value)} />
      );
  }
}
