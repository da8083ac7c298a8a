import type { ScheduleRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pause, Pencil, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { readableMessage } from "../../ui/api-messages.rules.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { time } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { toast } from "../../ui/toast.ts";
import { useIdempotentMutation } from "../../ui/use-idempotent-mutation.ts";
import { AutomationEntry } from "../automations/automation-entry.tsx";
import { cronText } from "./cron-text.rules.ts";
import { EditSchedule } from "./edit-schedule.tsx";
import { zonedTime } from "./zoned-time.rules.ts";

interface ScheduleListProps {
  schedules: readonly ScheduleRecord[];
  /** Names the agent of each schedule. */
  showsAgent?: boolean;
}

export function ScheduleList({ schedules, showsAgent = false }: ScheduleListProps) {
  return (
    <ul aria-label="Schedules" className="divide-y divide-line">
      {schedules.map((schedule) => (
        <Schedule key={schedule.id} schedule={schedule} showsAgent={showsAgent} />
      ))}
    </ul>
  );
}

function Schedule({ schedule, showsAgent }: { schedule: ScheduleRecord; showsAgent: boolean }) {
  const { name, cron, timezone } = schedule;
  const reading = cronText(cron) ?? cron;
  return (
    <AutomationEntry
      of={schedule}
      kind="schedule"
      label={name ?? reading}
      title={name ?? reading}
      showsAgent={showsAgent}
      about={
        <>
          {name && `${reading} · `}
          {timezone} · <code className="text-xs">{cron}</code>
        </>
      }
      actions={<Actions schedule={schedule} subject={name ?? reading} />}
    >
      <Times schedule={schedule} />
    </AutomationEntry>
  );
}

function Times({ schedule }: { schedule: ScheduleRecord }) {
  const { next_times, timezone, last_run_id, last_due_at, last_skipped_at, skipped_reason, paused_reason } = schedule;
  return (
    <Facts
      facts={[
        [
          "Next",
          next_times.length === 0 ? (
            <span key="next" className="text-muted">
              {schedule.status === "active" ? "No more times" : "Not while it is off"}
            </span>
          ) : (
            <ol key="next" aria-label="Next times">
              {next_times.map((moment, n) => (
                <li key={moment} className={n === 0 ? "" : "text-muted text-xs"}>
                  <ZonedMoment moment={moment} zone={timezone} />
                </li>
              ))}
            </ol>
          ),
        ],
        [
          "Last run",
          last_run_id ? (
            <span key="last">
              <TextLink to="/runs/$runId" params={{ runId: last_run_id }}>
                View run
              </TextLink>
              {last_due_at && <span className="text-muted"> · due {time(last_due_at)}</span>}
            </span>
          ) : (
            <span key="last" className="text-muted">
              Never
            </span>
          ),
        ],
        ...(last_skipped_at
          ? ([
              [
                "Last skipped",
                <span key="skipped">
                  <Moment at={last_skipped_at} />
                  {/* The notice above has said it. */}
                  {skipped_reason && skipped_reason !== paused_reason && (
                    <span className="text-muted"> · {readableMessage(skipped_reason)}</span>
                  )}
                </span>,
              ],
            ] as const)
          : []),
      ]}
    />
  );
}

function ZonedMoment({ moment, zone }: { moment: string; zone: string }) {
  const { there, here } = zonedTime(moment, zone);
  return (
    <time dateTime={moment}>
      {there}
      {here && <span className="text-muted"> ({here} your time)</span>}
    </time>
  );
}

function Actions({ schedule, subject }: { schedule: ScheduleRecord; subject: string }) {
  const [isEditing, setEditing] = useState(false);
  const queries = useQueryClient();
  const changed = () => Promise.all(["schedules", "runs"].map((key) => queries.invalidateQueries({ queryKey: [key] })));
  const switching = useMutation({
    mutationFn: (enabled: boolean) => api.schedules.update(schedule.id, { enabled }),
    async onSuccess({ enabled }) {
      await changed();
      toast(enabled ? "Schedule resumed" : "Schedule paused", enabled ? "good" : "plain");
    },
  });
  const starting = useIdempotentMutation({
    send: (_: undefined, idempotencyKey) => api.schedules.run(schedule.id, { idempotencyKey }),
    async onSuccess() {
      await changed();
      toast("Run started");
    },
  });
  const deleting = useMutation({
    mutationFn: () => api.schedules.delete(schedule.id),
    async onSuccess() {
      toast("Schedule deleted");
      await changed();
    },
  });
  const isActive = schedule.status === "active";
  return (
    <div className="flex flex-wrap items-center gap-1">
      <Button
        kind="quiet"
        icon={<Play size={14} />}
        aria-label={`Run now: ${subject}`}
        busy={starting.isPending}
        onClick={() => starting.mutate(undefined)}
      >
        Run now
      </Button>
      <Button
        kind="quiet"
        icon={isActive ? <Pause size={14} /> : <Play size={14} />}
        aria-label={`${isActive ? "Pause" : "Resume"} ${subject}`}
        busy={switching.isPending}
        onClick={() => switching.mutate(!isActive)}
      >
        {isActive ? "Pause" : "Resume"}
      </Button>
      <Button kind="quiet" icon={<Pencil size={14} />} aria-label={`Edit ${subject}`} onClick={() => setEditing(true)}>
        Edit
      </Button>
      <ConfirmButton
        quiet
        label="Delete"
        subject={subject}
        icon={<Trash2 size={14} />}
        question={`Delete ${subject}?`}
        explanation="No more runs are started. Past runs stay."
        onConfirm={() => deleting.mutateAsync()}
      />
      {isEditing && <EditSchedule schedule={schedule} onClose={() => setEditing(false)} />}
    </div>
  );
}
