import type { IdpActionRecord } from "@gantry/sdk";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { SecretDialog } from "../../ui/dialog.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import type { Typed } from "../../ui/schema-form.rules.ts";
import { ActionAnswer } from "./action-answer.tsx";
import { ActionFields } from "./action-fields.tsx";
import { actionForm, readForm } from "./action-form.rules.ts";
import { nextPage } from "./next-page.rules.ts";
import { useActionRun } from "./use-action-run.ts";
import { WriteQuestion } from "./write-question.tsx";

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
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever something is refused, whatever it is.
  useEffect(() => {
    // The form may be long, and what is wrong far from the button.
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
  const following = nextPage(action.paginated, running.answer?.result);
  const goOn = () => {
    const values = { ...typed, ...following };
    setTyped(values);
    run(values);
  };
  return (
    <>
      <Panel title="Arguments">
        <form ref={element} className="flex flex-col gap-4" onSubmit={submit} noValidate>
          {names.length === 0 && <p className="text-muted">It takes none.</p>}
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
              <span className="ml-3 text-muted text-xs">Nothing is sent before you have seen it and said yes.</span>
            )}
          </div>
        </form>
      </Panel>
      {running.answer && <ActionAnswer answer={running.answer} {...(following && { onNext: goOn })} />}
      {running.question && (
        <WriteQuestion
          preview={running.question}
          isBusy={running.isPending}
          onConfirm={running.confirm}
          onClose={running.dismiss}
        />
      )}
      <SecretDialog secret={running.secret} title="The client's new secret" onClose={running.forgetSecret} />
    </>
  );
}
