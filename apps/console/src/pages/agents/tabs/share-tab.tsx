import type { AgentRecord, AgentVisibility } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { CodeBlock } from "../../../ui/code.tsx";
import { Field, Select, TextInput } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { Form } from "../../../ui/form.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { toast } from "../../../ui/toast.ts";
import { exampleInput } from "../run/example-input.rules.ts";

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
              <Link
                to="/marketplace/$creator/$slug"
                params={{ creator: owner, slug }}
                className="text-accent hover:underline"
              >
                {owner}/{slug}
              </Link>
              . Other users see its name, inputs, outputs and price, but not its goal, instructions, drives or tool
              servers.
            </p>
          ) : (
            <Notice>
              {visibility === "public" ? "Publish this agent" : "Make this agent public and publish it"} to list it in
              the marketplace as <code>{`${owner}/${slug}`}</code>.
            </Notice>
          )}
          <CodeBlock
            label="Run over HTTP"
            text={curlOf(isOffered ? `${owner}/${slug}` : agent.id, agent.input_schema)}
          />
        </div>
      </Panel>
    </div>
  );
}

const curlOf = (address: string, schema: AgentRecord["input_schema"]) =>
  `curl ${location.origin}/v1/agents/${address}/runs \\
  -H "X-API-KEY: $GANTRY_KEY" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ input: exampleInput(schema), wait: 30 })}'`;
