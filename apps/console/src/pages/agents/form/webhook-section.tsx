import type { AgentWebhook, RunWebhookEvent } from "@gantry/sdk";
import { Checkbox, Field, TextInput } from "../../../ui/field.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { eventLabels } from "../../webhooks/delivery-event.rules.ts";
import type { SectionOfDraft } from "./agent-draft.rules.ts";
import { Section } from "./section.tsx";

const allEvents = Object.keys(eventLabels) as RunWebhookEvent[];

export function WebhookSection({ draft: { webhook }, errors, onChange }: SectionOfDraft) {
  const chosen = webhook?.events ?? allEvents;
  /** All events are the default, and an empty address turns the webhook off. */
  const change = (url: string, events: readonly RunWebhookEvent[]) => {
    const some: Pick<AgentWebhook, "events"> = events.length === allEvents.length ? {} : { events: [...events] };
    onChange({ webhook: url === "" ? null : { url, ...some } });
  };
  const toggle = (event: RunWebhookEvent) =>
    change(
      webhook?.url ?? "",
      allEvents.filter((each) => (each === event) !== chosen.includes(each)),
    );
  return (
    <Section
      id="webhook"
      title="Webhook"
      startsOpen={webhook !== null}
      error={errors.webhook}
      summary={webhook?.url ?? "None"}
      hint={
        <>
          Gantry sends events of your own runs to this address, signed and with retries. See every attempt under{" "}
          <TextLink to="/webhooks">Webhooks</TextLink>.
        </>
      }
    >
      <Field label="Webhook URL" hint="Empty: no webhook." error={errors["webhook.url"]}>
        {(control) => (
          <TextInput
            {...control}
            type="url"
            placeholder="https://example.com/hook"
            value={webhook?.url ?? ""}
            onChange={(event) => change(event.target.value.trim(), chosen)}
          />
        )}
      </Field>
      {webhook && (
        <fieldset className="flex flex-col gap-1.5">
          <legend className="mb-1 font-medium">Events</legend>
          {allEvents.map((event) => (
            <Checkbox
              key={event}
              label={eventLabels[event]}
              checked={chosen.includes(event)}
              // The last one stays: without events the webhook has no use.
              disabled={chosen.length === 1 && chosen.includes(event)}
              onChange={() => toggle(event)}
            />
          ))}
          {errors["webhook.events"] && <p className="text-bad text-xs">{errors["webhook.events"]}</p>}
        </fieldset>
      )}
    </Section>
  );
}
