import type { NoticeSettingsRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { noticeSettingsQuery, noticesKey } from "./notices-query.ts";
import { draftIssues, draftOf, settingsOf } from "./settings-draft.rules.ts";

export function NoticeSettings() {
  const settings = useQuery(noticeSettingsQuery);
  return (
    <Panel title="Notices">
      <Loaded query={settings}>{(data) => <SettingsForm key={JSON.stringify(data)} settings={data} />}</Loaded>
    </Panel>
  );
}

function SettingsForm({ settings }: { settings: NoticeSettingsRecord }) {
  const [draft, setDraft] = useState(draftOf(settings));
  const [isSubmitted, setSubmitted] = useState(false);
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.account.notices.putSettings(settingsOf(draft, settings)),
    async onSuccess() {
      toast("Notices saved");
      await queries.invalidateQueries({ queryKey: noticesKey });
    },
  });
  const issues = draftIssues(draft);
  const own = isSubmitted ? issues : {};
  const errors = fieldErrors(saving.error, ["balance_below", "budget_percent", "webhook"]);
  const submit = () => {
    setSubmitted(true);
    if (Object.keys(issues).length === 0) saving.mutate();
  };
  return (
    <Form submit="Save notices" busy={saving.isPending} errors={errors} onSubmit={submit}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Balance below ($)"
          hint="You get a notice when the balance falls below. Leave empty for none."
          error={own.below ?? errors.of.balance_below}
        >
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              placeholder="No notice"
              value={draft.below}
              onChange={(event) => setDraft({ ...draft, below: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Budget used (%)"
          hint="You get a notice when a key or member has used this much of a budget. Leave empty for none."
          error={own.percent ?? errors.of.budget_percent}
        >
          {(control) => (
            <TextInput
              {...control}
              inputMode="numeric"
              placeholder="No notice"
              value={draft.percent}
              onChange={(event) => setDraft({ ...draft, percent: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Field
        label="Webhook URL"
        hint={
          <>
            Receives each notice, signed and with retries. See every attempt under{" "}
            <TextLink to="/webhooks">Webhooks</TextLink>.
          </>
        }
        error={errors.of.webhook}
      >
        {(control) => (
          <TextInput
            {...control}
            type="url"
            placeholder="https://example.com/hook"
            value={draft.url}
            onChange={(event) => setDraft({ ...draft, url: event.target.value })}
          />
        )}
      </Field>
    </Form>
  );
}
