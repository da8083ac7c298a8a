import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Select, TextInput } from "../../../ui/field.tsx";
import { count } from "../../../ui/format.ts";
import { TextLink } from "../../../ui/link.tsx";
import { priceParts } from "../../models/price.rules.ts";
import { ownAliasesQuery, textModelsQuery } from "../agent-queries.ts";
import type { SectionOfDraft } from "./agent-draft.rules.ts";
import { modelOption } from "./model-option.rules.ts";
import { Section } from "./section.tsx";

/** No model has this name. */
const typedName = "";

export function ModelSection({ draft, errors, onChange }: SectionOfDraft) {
  const models = useQuery(textModelsQuery);
  const aliases = useQuery(ownAliasesQuery);
  const chosen = models.data?.find(({ endpoint_id }) => endpoint_id === draft.model);
  const alias = aliases.data?.find(({ name }) => name === draft.model);
  const isKnown = chosen !== undefined || alias !== undefined;
  const [isTyped, setTyped] = useState(false);
  const choose = (value: string) => {
    setTyped(value === typedName);
    if (value !== typedName) onChange({ model: value });
  };
  return (
    <Section id="model" title="Model" startsOpen summary={<code>{draft.model}</code>}>
      <Field
        label="Model"
        error={errors.model}
        hint={
          chosen ? (
            <>
              {priceParts(chosen.pricing).join(" · ")}
              {chosen.context_window ? ` · ${count(chosen.context_window)} tokens of context` : ""}
            </>
          ) : alias ? (
            <>
              An alias of <code>{alias.model}</code>.
            </>
          ) : (
            <>
              Any text model you can call. <TextLink to="/models">Connect a model</TextLink>
            </>
          )
        }
      >
        {(control) => (
          <Select
            {...control}
            value={isTyped ? typedName : draft.model}
            onChange={(event) => choose(event.target.value)}
          >
            {!isKnown && !isTyped && <option value={draft.model}>{draft.model}</option>}
            <optgroup label="Models">
              {models.data?.map((model) => (
                <option key={model.endpoint_id} value={model.endpoint_id}>
                  {modelOption(model)}
                </option>
              ))}
            </optgroup>
            {aliases.data && aliases.data.length > 0 && (
              <optgroup label="Your aliases">
                {aliases.data.map(({ name, model }) => (
                  <option key={name} value={name}>
                    {name} → {model}
                  </option>
                ))}
              </optgroup>
            )}
            <option value={typedName}>Enter a name…</option>
          </Select>
        )}
      </Field>
      {isTyped && (
        <Field label="Model name" hint="As owner/model, or an alias that the operator offers to everyone.">
          {(control) => (
            <TextInput
              {...control}
              className="font-mono"
              value={draft.model}
              onChange={(event) => onChange({ model: event.target.value.trim() })}
            />
          )}
        </Field>
      )}
    </Section>
  );
}
