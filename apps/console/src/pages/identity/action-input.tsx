import { type ControlProps, Select, TextArea, TextInput } from "../../ui/field.tsx";
import type { InputKind } from "./action-form.rules.ts";

interface ActionInputProps {
  control: ControlProps;
  kind: InputKind;
  choices: readonly string[];
  isRequired: boolean;
  value: string;
  onValue(text: string): void;
}

const yesNo = [
  { value: "true", label: "yes" },
  { value: "false", label: "no" },
];

export function ActionInput({ control, kind, choices, isRequired, value, onValue }: ActionInputProps) {
  const given = {
    ...control,
    required: isRequired,
    value,
    onChange: (event: { target: { value: string } }) => onValue(event.target.value),
  };
  switch (kind) {
    case "choice":
    case "yes-no": {
      const options = kind === "yes-no" ? yesNo : choices.map((choice) => ({ value: choice, label: choice }));
      return (
        <Select {...given}>
          <option value="">{isRequired ? "Choose one" : "Not given"}</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
      );
    }
    case "json":
    case "long-text":
      return <TextArea {...given} spellCheck={false} className="font-mono text-xs" />;
    case "lines":
      return <TextArea {...given} rows={3} spellCheck={false} />;
    case "secret":
      return <TextInput {...given} type="password" autoComplete="new-password" />;
    case "number":
      return <TextInput {...given} inputMode="decimal" />;
    default:
      return <TextInput {...given} />;
  }
}
