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
      toast(isPriceNew ? "Saved; the price counts from the next publishing" : "Saved");
    },
  });
  const errors = fieldErrors(saving.error, ["visibility", "pricing"]);
  const isOffered = visibility === "public" && status === "published";
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title="Who may run it">
        <Form
          submit="Save"
          busy={saving.isPending}
          disabled={Number.isNaN(perRun) || (shown === visibility && !isPriceNew)}
          errors={errors}
          onSubmit={() => saving.mutate()}
        >
          <Field label="Visibility" error={errors.of.visibility} hint="It acts at once.">
            {(control) => (
              <Select {...control} value={shown} onChange={(event) => setShown(event.target.value as AgentVisibility)}>
                <option value="private">Private: you alone</option>
                <option value="public">Public: everybody, through the marketplace</option>
              </Select>
            )}
          </Field>
          <Field
            label="Price a run, in dollars"
            error={Number.isNaN(perRun) ? "Must be a number" : errors.of.pricing}
            hint="Other users pay this price to you when a run is done, and pay for public models too. You pay for your private models. A new price applies once it is published."
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
      <Panel title="Address">
        <div className="flex flex-col gap-4">
          {isOffered ? (
            <p>
              It is in the marketplace as{" "}
              <Link
                to="/marketplace/$creator/$slug"
                params={{ creator: owner, slug }}
                className="text-accent hover:underline"
              >
                {owner}/{slug}
              </Link>
              . Others see its name, what it takes and gives, and its price: not the goal, the instructions, the drives
              or the servers.
            </p>
          ) : (
            <Notice>
              {visibility === "public" ? "Publish it, and it is" : "Make it public and publish it, and it is"} in the
              marketplace as <code>{`${owner}/${slug}`}</code>. The address is made from the name.
            </Notice>
          )}
          <CodeBlock
            label="Run it over HTTP"
            text={curlOf(isOffered ? `${owner}/${slug}` : agent.id, agent.input_schema)}
          />
        </div>
      </Panel>
    </div>
  );
}

const curlOf = (address: string, schema: AgentRecord["input_schema"]) =>
  `curl ${location.origin}/v1/agents/${address}/runs \\
  -H "X-API-KEY: $KEY" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ input: exampleInput(schema), wait: 30 })}'`;
