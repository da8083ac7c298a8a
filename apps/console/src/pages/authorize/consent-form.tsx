import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Authorization, type Decision, decideAuthorization } from "../../api/authorization.ts";
import { useSession } from "../../shell/session.ts";
import { Facts } from "../../ui/facts.tsx";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { draftIssues, emptyDraft, type KeyDraft, keyRequest } from "../keys/key-request.rules.ts";
import { ModelListInput } from "../keys/model-list-input.tsx";

const expiries: [KeyDraft["expiry"], string][] = [
  ["never", "When I revoke it, or after 60 days without use"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In 1 year"],
];

export function ConsentForm({ asked, request }: { asked: Authorization; request: string }) {
  const { client, models, has_more } = asked;
  const { username, person } = useSession();
  const [draft, setDraft] = useState<KeyDraft>({ ...emptyDraft, access: "some", name: client.name, models });
  const [isSubmitted, setSubmitted] = useState(false);
  const queries = useQueryClient();
  const deciding = useMutation({
    meta: { showsFailure: true },
    mutationFn: (decision: Decision) => decideAuthorization(request, decision),
    async onSuccess(address) {
      await queries.invalidateQueries({ queryKey: ["keys"] });
      location.assign(address);
    },
  });
  const set = (change: Partial<KeyDraft>) => setDraft((now) => ({ ...now, ...change }));
  const issues = draftIssues(draft);
  const own = isSubmitted ? issues : {};
  const errors = fieldErrors(deciding.error, ["name", "expires_at", "models", "monthly_limit"]);
  const allow = () => {
    setSubmitted(true);
    if (Object.keys(issues).length === 0) deciding.mutate({ allow: true, ...keyRequest(draft, new Date()) });
  };
  if (deciding.isSuccess) {
    return (
      <Notice tone="good" title={`Returning to ${client.host}`}>
        If the app does not open, go back to it. You can close this tab.
      </Notice>
    );
  }
  return (
    <Panel title={`Allow “${client.name}” to use Gantry as ${person ?? username}?`} className="max-w-2xl">
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            ["App", `${client.name} (the app chose this name)`],
            [
              "Goes to",
              <span key="host">
                <strong>{client.host}</strong>
                {client.kind === "web" ? ", a website" : ", a program on this computer"}
              </span>,
            ],
          ]}
        />
        <Notice tone="warn" title="Allow this only if you have just added Gantry in this app">
          The app can call the models and run the agents below, and you pay for the calls. It reads the results of its
          own calls, but not your other files, keys or secrets. You can revoke the app on the API keys page.
        </Notice>
        <Form
          submit="Allow"
          cancel="Deny"
          busy={deciding.isPending}
          errors={errors}
          onSubmit={allow}
          onCancel={() => deciding.mutate({ allow: false })}
        >
          <Field label="Name of the connection" error={errors.of.name}>
            {(control) => (
              <TextInput
                {...control}
                maxLength={100}
                value={draft.name}
                onChange={(e) => set({ name: e.target.value })}
              />
            )}
          </Field>
          <Field
            label="Models and agents"
            hint={
              has_more
                ? "The first 100 that you can call. Remove those that the app does not need. To allow an agent, add agents/creator/slug."
                : "Remove those that the app does not need. Models and agents that you create later are not included."
            }
            error={own.models ?? errors.of.models}
          >
            {(control) => (
              <ModelListInput
                control={control}
                models={draft.models}
                onModels={(change) => setDraft((now) => ({ ...now, models: change(now.models) }))}
              />
            )}
          </Field>
          <Field
            label="Monthly limit ($)"
            hint="Resets on the 1st (UTC). Leave empty for no limit."
            error={own.limit ?? errors.of.monthly_limit}
          >
            {(control) => (
              <TextInput
                {...control}
                inputMode="decimal"
                placeholder="No limit"
                value={draft.limit}
                onChange={(e) => set({ limit: e.target.value })}
              />
            )}
          </Field>
          <Field label="Access ends" error={errors.of.expires_at}>
            {(control) => (
              <Select
                {...control}
                value={draft.expiry}
                onChange={(e) => set({ expiry: e.target.value as KeyDraft["expiry"] })}
              >
                {expiries.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </Form>
      </div>
    </Panel>
  );
}
