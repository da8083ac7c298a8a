import type { DeliveryStatus } from "@gantry/sdk";
import { type FormEvent, useEffect, useState } from "react";
import { Select, TextInput } from "../../ui/field.tsx";

interface DeliveryFilterProps {
  status: DeliveryStatus | undefined;
  prediction: string | undefined;
  onChange(change: { status?: DeliveryStatus | undefined; q?: string | undefined }): void;
}

const all: readonly DeliveryStatus[] = ["pending", "delivered", "failed", "gone"];

export function DeliveryFilter({ status, prediction = "", onChange }: DeliveryFilterProps) {
  const [text, setText] = useState(prediction);
  useEffect(() => setText(prediction), [prediction]);
  const look = (event: FormEvent) => {
    event.preventDefault();
    onChange({ q: text.trim() || undefined });
  };
  return (
    <search>
      <form className="flex gap-2" onSubmit={look}>
        <TextInput
          type="search"
          aria-label="Id of a prediction"
          placeholder="Id of a prediction, then Enter"
          className="min-w-0 sm:w-64"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Select
          aria-label="Status"
          className="max-w-36 shrink-0"
          value={status ?? ""}
          onChange={({ target }) => onChange({ status: all.find((one) => one === target.value) })}
        >
          <option value="">Every status</option>
          {all.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      </form>
    </search>
  );
}
