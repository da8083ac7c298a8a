import type { DeliveryStatus } from "@gantry/sdk";
import { type FormEvent, useEffect, useState } from "react";
import { Select, TextInput } from "../../ui/field.tsx";
import { deliveryStatuses, statusLabels } from "./delivery-status.tsx";

interface DeliveryFilterProps {
  status: DeliveryStatus | undefined;
  prediction: string | undefined;
  onChange(change: { status?: DeliveryStatus | undefined; q?: string | undefined }): void;
}

export function DeliveryFilter({ status, prediction = "", onChange }: DeliveryFilterProps) {
  const [text, setText] = useState(prediction);
  useEffect(() => setText(prediction), [prediction]);
  const search = (event: FormEvent) => {
    event.preventDefault();
    onChange({ q: text.trim() || undefined });
  };
  return (
    <search>
      <form className="flex gap-2" onSubmit={search}>
        <TextInput
          type="search"
          aria-label="Prediction or run ID"
          placeholder="Prediction or run ID"
          className="min-w-0 sm:w-64"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Select
          aria-label="Status"
          className="max-w-36 shrink-0"
          value={status ?? ""}
          onChange={({ target }) => onChange({ status: deliveryStatuses.find((value) => value === target.value) })}
        >
          <option value="">All statuses</option>
          {deliveryStatuses.map((value) => (
            <option key={value} value={value}>
              {statusLabels[value]}
            </option>
          ))}
        </Select>
      </form>
    </search>
  );
}
