import type { AgentRecord, AgentVisibility } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { Field, Select, TextInput } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { Form } from "../../../ui/form.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { toast } from "../../../ui/toast.ts";
import { RunCode } from "../run/run-code.tsx";

export function ShareTab({ agent }: { agent: AgentRecord }) {
  const { visibility, pricing, owner, slug, status } = agent;
  const [shown, setShown] = useState<AgentVisibility>(visibility);
  const [price, setPrice] = useState(String(pricing.per_run));
  const queries = useQueryClient();
  const perRun = price.trim() === "" ? 0 : Number(price);
  const isPriceNew = perRun !== pricing.per_run;
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: () =>
      api.agents.update(agent.id, {
        ...(shown !== visibility && { visibility: shown }),
        ...(isPriceNew && { pricing: { per_run: perRun } }),
      }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      await queries.invalidateQueries({ queryKey: ["marketplace"] });
      toast(isPriceNew ? "Saved. Publish to apply the new price." : "Saved");
    },
  });
  const errors = fieldErrors(saving.error, ["visibility", "pricing"]);
  const isOffered = visibility === "public" && status === "published";
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title="Access and price">
        <Form
          submit="Save"
          busy={saving.isPending}
          disabled={Number.isNaN(perRun) || (shown === visibility && !isPriceNew)}
          errors={errors}
          onSubmit={() => saving.mutate()}
        >
          <Field label="Visibility" error={errors.of.visibility} hint="Takes effect immediately.">
            {(control) => (
              <Select {...control} value={shown} onChange={(event) => setShown(event.target.value as AgentVisibility)}>
                <option value="private">Private: only you</option>
                <option value="public">Public: everyone, through the marketplace</option>
              </Select>
            )}
          </Field>
          <Field
            label="Price per run ($)"
            error={Number.isNaN(perRun) ? "Must be a number" : errors.of.pricing}
            hint="Other users pay you this price for each successful run, plus the usage of public models. You pay for your private models. A new price applies after you publish."
          >
            {(control) => (
              <TextInput
                {...control}
                inputMode="decimal"
                value={price}
                onChange={(event) => setPrice(event.target.value)}
              />
            )}
          </Field>
        </Form>
      </Panel>
      <Panel title="Call this agent">
        <div className="flex flex-col gap-4">
          {isOffered ? (
            <p>
              Listed in the marketplace as{" "}
              <TextLink to="/marketplace/$creator/$slug" params={{ creator: owner, slug }}>
                {owner}/{slug}
              </TextLink>
              . Other users see its name, description, inputs, outputs and price, but not its goal, instructions, drives
              or tool servers.
            </p>
          ) : (
            <Notice>
              {visibility === "public" ? "Publish this agent" : "Make this agent public and publish it"} to list it in
              the marketplace as <code>{`${owner}/${slug}`}</code>.
            </Notice>
          )}
          <RunCode agent={isOffered ? `${owner}/${slug}` : agent.id} schema={agent.input_schema} />
        </div>
      </Panel>
    </div>
  );
}
