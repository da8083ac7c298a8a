import type { IdpActionRecord } from "@gantry/sdk";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { SecretDialog } from "../../ui/dialog.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import type { Typed } from "../../ui/schema-form.rules.ts";
import { ActionFields } from "./action-fields.tsx";
import { actionForm, readForm } from "./action-form.rules.ts";
import { ActionResponse } from "./action-response.tsx";
import { ConfirmWrite } from "./confirm-write.tsx";
import { nextPage } from "./next-page.rules.ts";
import { useActionRun } from "./use-action-run.ts";

export function ActionRunner({ action, isConnected }: { action: IdpActionRecord; isConnected: boolean }) {
  const form = useMemo(() => actionForm(action.parameters), [action]);
  const [typed, setTyped] = useState<Typed>({});
  const [unreadable, setUnreadable] = useState<Typed>({});
  const running = useActionRun(action, () => setTyped({}));
  const names = form.fields.map(({ name }) => name);
  const refused = fieldErrors(
    running.error,
    names.map((name) => `arguments.${name}`),
  );
  const element = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: focus after every refusal.
  useEffect(() => {
    // The invalid field may be far from the button in a long form.
    element.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [running.error, unreadable]);

  const run = (values: Typed) => {
    const { values: args, faults } = readForm(form.fields, values);
    setUnreadable(faults);
    if (Object.keys(faults).length === 0) running.run(args);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(typed);
  };
  const nextArguments = nextPage(action.paginated, running.response?.result);
  const showNext = () => {
    const values = { ...typed, ...nextArguments };
    setTyped(values);
    run(values);
  };
  return (
    <>
      <Panel title="Arguments">
        <form ref={element} className="flex flex-col gap-4" onSubmit={submit} noValidate>
          {names.length === 0 && <p className="text-muted">No arguments.</p>}
          <ActionFields
            form={form}
            typed={typed}
            errorOf={(name) => unreadable[name] ?? refused.of[`arguments.${name}`]}
            onType={(name, text) => setTyped((now) => ({ ...now, [name]: text }))}
          />
          {refused.rest !== undefined && <Failure error={refused.rest} />}
          <div>
            <Button kind="primary" type="submit" busy={running.isPending} disabled={!isConnected}>
              {action.kind === "read" ? "Run" : "Preview"}
            </Button>
            {action.kind === "write" && (
              <span className="ml-3 text-muted text-xs">Nothing is sent until you confirm the preview.</span>
            )}
          </div>
        </form>
      </Panel>
      {running.response && <ActionResponse response={running.response} {...(nextArguments && { onNext: showNext })} />}
      {running.preview && (
        <ConfirmWrite
          preview={running.preview}
          isBusy={running.isPending}
          onConfirm={running.confirm}
          onClose={running.dismiss}
        />
      )}
      <SecretDialog secret={running.secret} title="New client secret" onClose={running.forgetSecret} />
    </>
  );
}
