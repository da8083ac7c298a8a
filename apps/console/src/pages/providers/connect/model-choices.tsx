import type { DiscoveredModel } from "@gantry/sdk";
import { Search } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox, TextInput } from "../../../ui/field.tsx";
import { Empty } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { matching, type PriceTerms, type PriceTexts, pricesToSet } from "../upstream-models.rules.ts";
import { ModelChoice } from "./model-choice.tsx";

interface ModelChoicesProps {
  models: readonly DiscoveredModel[];
  terms: PriceTerms;
  chosen: ReadonlySet<string>;
  onChosen(chosen: ReadonlySet<string>): void;
  prices: Readonly<Record<string, PriceTexts>>;
  onPrices(prices: Readonly<Record<string, PriceTexts>>): void;
  /** Ids of models that need a price. */
  missing: readonly string[];
}

/** A vendor may offer thousands. */
const shownAtFirst = 100;

export function ModelChoices({ models, terms, chosen, onChosen, prices, onPrices, missing }: ModelChoicesProps) {
  const [search, setSearch] = useState("");
  const [limit, setLimit] = useState(shownAtFirst);
  const found = matching(models, search);
  // A model without a price must be visible, wherever it is in the list.
  const shown = found.filter(({ id }, n) => n < limit || missing.includes(id));
  const areAllChosen = shown.length > 0 && shown.every(({ id }) => chosen.has(id));
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const others = [...chosen].filter((id) => !ids.includes(id));
    onChosen(new Set(isChosen ? [...others, ...ids] : others));
  };
  const unpriced = models.filter((model) => chosen.has(model.id) && pricesToSet(model, terms).length > 0);
  const copyPrice = ({ id, kind }: DiscoveredModel) => {
    const alike = unpriced.filter((model) => model.kind === kind);
    onPrices({ ...prices, ...Object.fromEntries(alike.map((model) => [model.id, prices[id] ?? {}])) });
  };
  return (
    <Panel flush>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-b px-4 py-3">
        <div className="relative min-w-48 flex-1 sm:max-w-80">
          <Search size={14} className="absolute top-2.5 left-2.5 text-muted" aria-hidden />
          <TextInput
            type="search"
            aria-label="Search models"
            placeholder="Search models"
            className="pl-8"
            value={search}
            onChange={({ target }) => {
              setSearch(target.value);
              setLimit(shownAtFirst);
            }}
            onKeyDown={(event) => {
              // Enter would import.
              if (event.key === "Enter") event.preventDefault();
            }}
          />
        </div>
        <Checkbox
          label={search.trim() === "" ? `Select all ${shown.length}` : `Select ${shown.length} found`}
          disabled={shown.length === 0}
          checked={areAllChosen}
          onChange={({ target }) =>
            choose(
              shown.map(({ id }) => id),
              target.checked,
            )
          }
        />
      </div>
      {shown.length === 0 && <Empty title="No matching models" />}
      <ul aria-label="Models of the provider">
        {shown.map((model) => (
          <ModelChoice
            key={model.id}
            model={model}
            terms={terms}
            isChosen={chosen.has(model.id)}
            onChosen={(isChosen) => choose([model.id], isChosen)}
            prices={prices[model.id] ?? {}}
            onPrices={(texts) => onPrices({ ...prices, [model.id]: texts })}
            isMissing={missing.includes(model.id)}
            {...(unpriced.some(({ id, kind }) => id !== model.id && kind === model.kind) && {
              onCopy: () => copyPrice(model),
            })}
          />
        ))}
      </ul>
      {found.length > shown.length && (
        <div className="flex items-center justify-between gap-3 border-line border-t px-4 py-2 text-muted">
          {shown.length} of {found.length} shown
          <Button onClick={() => setLimit(limit + shownAtFirst)}>Show more</Button>
        </div>
      )}
    </Panel>
  );
}
