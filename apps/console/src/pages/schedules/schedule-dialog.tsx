import type { ScheduleRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { money } from "../../ui/format.ts";
import { toast } from "../../ui/toast.ts";
import { AgentInput, useAgentInput } from "../agents/run/agent-input.tsx";
import { ApproveField } from "../automations/approve-field.tsx";
import { cronPresets, cronText } from "./cron-text.rules.ts";
import { costFault, type EnteredSchedule, enteredOf, newSchedule, scheduleBody } from "./schedule-form.rules.ts";
import { localZone, timeZones } from "./zoned-time.rules.ts";

export interface ScheduledAgent {
  id: string;
  name: string;
  schema: Record<string, unknown>;
  /** What each run costs, of another user's agent. */
  price?: number;
}

interface ScheduleDialogProps {
  agent: ScheduledAgent;
  /** Undefined: a new one. */
  schedule?: ScheduleRecord | undefined;
  onClose(): void;
}

const customCron = "custom";
const shownFields = ["name", "cron", "timezone", "missed", "overlap", "max_cost", "approve", "thread_id"];

export function ScheduleDialog({ agent, schedule, onClose }: ScheduleDialogProps) {
  const [entered, setEntered] = useState(() => (schedule ? enteredOf(schedule) : newSchedule(localZone())));
  const input = useAgentInput(agent.schema, schedule?.input);
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: (values: Record<string, unknown>) => {
      const price = agent.price === undefined ? {} : { expected_price: agent.price };
      const body = { ...scheduleBody(entered), ...price };
      if (!schedule) return api.schedules.create(agent.id, { ...body, input: values });
      // A text does not express every value: an input that did not change stays as it is stored.
      return api.schedules.update(schedule.id, values === input.initial ? body : { ...body, input: values });
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["schedules"] });
      toast(schedule ? "Schedule saved" : "Schedule created");
      onClose();
    },
  });
  const errors = fieldErrors(saving.error, [...shownFields, ...input.names]);
  const wrongCost = costFault(entered.maxCost);
  return (
    <Dialog
      wide
      open
      onClose={onClose}
      title={schedule ? "Edit schedule" : `Schedule ${agent.name}`}
      description={
        agent.price
          ? `Runs the published version. Each run costs ${money(agent.price)}, plus usage. If the price changes, the schedule pauses.`
          : "Runs the published version of the agent at the times that you set."
      }
    >
      <Form
        submit={schedule ? "Save" : "Create schedule"}
        busy={saving.isPending}
        disabled={wrongCost !== undefined}
        errors={errors}
        onSubmit={() => {
          const values = input.read();
          if (values) saving.mutate(values);
        }}
        onCancel={onClose}
      >
        <When entered={entered} errors={errors.of} onChange={setEntered} />
        <fieldset className="flex flex-col gap-4 rounded-md border border-line p-3">
          <legend className="px-1 font-medium">Input of each run</legend>
          <AgentInput input={input} errors={errors.of} />
        </fieldset>
        <Rules
          entered={entered}
          errors={{ ...errors.of, ...(wrongCost && { max_cost: wrongCost }) }}
          onChange={setEntered}
        />
      </Form>
    </Dialog>
  );
}

interface PartProps {
  entered: EnteredSchedule;
  errors: Readonly<Record<string, string>>;
  onChange(entered: EnteredSchedule): void;
}

function When({ entered, errors, onChange }: PartProps) {
  const { cron, timezone, name } = entered;
  const preset = cronPresets.find((each) => each.cron === cron.trim());
  const zones = timeZones();
  const reading = cronText(cron);
  return (
    <>
      <Field label="Name" hint="Optional. Shown in lists." error={errors.name}>
        {(control) => (
          <TextInput
            {...control}
            maxLength={100}
            value={name}
            onChange={(event) => onChange({ ...entered, name: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="When">
          {(control) => (
            <Select
              {...control}
              value={preset?.cron ?? customCron}
              onChange={({ target: { value } }) => value !== customCron && onChange({ ...entered, cron: value })}
            >
              {cronPresets.map((each) => (
                <option key={each.cron} value={each.cron}>
                  {each.label}
                </option>
              ))}
              <option value={customCron}>Custom: enter a cron expression</option>
            </Select>
          )}
        </Field>
        <Field label="Time zone" error={errors.timezone}>
          {(control) => (
            <Select
              {...control}
              value={timezone}
              onChange={(event) => onChange({ ...entered, timezone: event.target.value })}
            >
              {!zones.includes(timezone) && <option value={timezone}>{timezone}</option>}
              {zones.map((zone) => (
                <option key={zone} value={zone}>
                  {zone}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Field
        label="Cron expression"
        error={errors.cron}
        hint={
          <>
            {reading && <span className="font-medium text-ink">{reading}. </span>}
            Minute, hour, day of the month, month, day of the week.
          </>
        }
      >
        {(control) => (
          <TextInput
            {...control}
            className="font-mono"
            value={cron}
            onChange={(event) => onChange({ ...entered, cron: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function Rules({ entered, errors, onChange }: PartProps) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="If a time was missed" error={errors.missed} hint="For example while the server was off.">
          {(control) => (
            <Select
              {...control}
              value={entered.missed}
              onChange={(event) => onChange({ ...entered, missed: event.target.value as EnteredSchedule["missed"] })}
            >
              <option value="skip">Skip it</option>
              <option value="once">Run once to catch up</option>
            </Select>
          )}
        </Field>
        <Field label="If the previous run is still going" error={errors.overlap}>
          {(control) => (
            <Select
              {...control}
              value={entered.overlap}
              onChange={(event) => onChange({ ...entered, overlap: event.target.value as EnteredSchedule["overlap"] })}
            >
              <option value="skip">Skip this time</option>
              <option value="queue">Run after it</option>
            </Select>
          )}
        </Field>
        <Field label="Max cost per run ($)" hint="Default: limited only by your balance." error={errors.max_cost}>
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              value={entered.maxCost}
              onChange={(event) => onChange({ ...entered, maxCost: event.target.value })}
            />
          )}
        </Field>
        <Field label="Thread" hint="Optional. All runs continue this conversation." error={errors.thread_id}>
          {(control) => (
            <TextInput
              {...control}
              value={entered.thread}
              onChange={(event) => onChange({ ...entered, thread: event.target.value })}
            />
          )}
        </Field>
      </div>
      <ApproveField
        value={entered.approve}
        error={errors.approve}
        onChange={(approve) => onChange({ ...entered, approve })}
      />
    </>
  );
}
