import type { DiscoveredModel } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { useEffect, useId, useRef } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Field, TextInput } from "../../../ui/field.tsx";
import { kindLabels } from "../../models/model-kinds.ts";
import {
  factsOf,
  isPrice,
  type PriceTerms,
  type PriceTexts,
  pricesToSet,
  priceText,
} from "../upstream-models.rules.ts";

interface ModelChoiceProps {
  model: DiscoveredModel;
  terms: PriceTerms;
  isChosen: boolean;
  onChosen(isChosen: boolean): void;
  prices: PriceTexts;
  onPrices(prices: PriceTexts): void;
  isMissing: boolean;
  /** Copies the prices to other selected models. */
  onCopy?(): void;
}

export function ModelChoice({ model, terms, isChosen, onChosen, ...priced }: ModelChoiceProps) {
  const id = useId();
  const hasPrices = pricesToSet(model, terms).length > 0;
  return (
    <li className="border-line border-b px-4 py-2.5 last:border-b-0 hover:bg-sunken/60">
      <div className="flex items-start gap-3">
        <input
          type="checkbox"
          id={id}
          className="mt-0.5 size-4 shrink-0 accent-accent"
          checked={isChosen}
          onChange={({ target }) => onChosen(target.checked)}
        />
        <div className="flex min-w-0 flex-1 flex-col gap-x-6 gap-y-1 sm:flex-row">
          <div className="min-w-0 flex-1">
            <label htmlFor={id} className="wrap-anywhere font-medium">
              {model.title}
            </label>
            {model.title !== model.id && <code className="wrap-anywhere block text-muted text-xs">{model.id}</code>}
            <ul aria-label={`About ${model.id}`} className="mt-1 flex flex-wrap gap-1.5">
              <li>
                <Badge tone="info">{kindLabels[model.kind]}</Badge>
              </li>
              {factsOf(model).map((fact) => (
                <li key={fact}>
                  <Badge>{fact}</Badge>
                </li>
              ))}
              {model.imported !== null && (
                <li>
                  <Imported endpointId={model.imported} />
                </li>
              )}
            </ul>
          </div>
          <div className="shrink-0 text-muted sm:w-56 sm:text-right">
            {priceText(model, terms).map((part) => (
              <p key={part}>{part}</p>
            ))}
          </div>
        </div>
      </div>
      {isChosen && hasPrices && <PriceFields model={model} terms={terms} {...priced} />}
    </li>
  );
}

function Imported({ endpointId }: { endpointId: string }) {
  const [owner = "", name = ""] = endpointId.split("/");
  return (
    <Link
      to="/models/$owner/$name"
      params={{ owner, name }}
      className="inline-flex items-center rounded bg-good-soft px-1.5 py-0.5 font-medium text-good text-xs hover:underline"
    >
      Imported as {endpointId}
    </Link>
  );
}

type PriceFieldsProps = Omit<ModelChoiceProps, "isChosen" | "onChosen">;

function PriceFields({ model, terms, prices, onPrices, isMissing, onCopy }: PriceFieldsProps) {
  const group = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    if (isMissing) group.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [isMissing]);
  return (
    <fieldset ref={group} className="mt-2 ml-7 flex flex-wrap items-end gap-3">
      <legend className="sr-only">Price of {model.id}</legend>
      {pricesToSet(model, terms).map(([part, label]) => (
        <div key={part} className="w-44">
          <Field label={label}>
            {(control) => (
              <TextInput
                {...control}
                inputMode="decimal"
                placeholder={terms.isHosted ? "Required" : "Free"}
                aria-invalid={(isMissing && !isPrice(prices[part], terms)) || undefined}
                value={prices[part] ?? ""}
                onChange={({ target }) => onPrices({ ...prices, [part]: target.value })}
              />
            )}
          </Field>
        </div>
      ))}
      {onCopy && Object.values(prices).some((text) => text !== "") && (
        <Button kind="quiet" onClick={onCopy}>
          Use for all selected
        </Button>
      )}
    </fieldset>
  );
}
