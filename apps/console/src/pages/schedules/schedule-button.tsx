import type { AgentCard } from "@gantry/sdk";
import { CalendarPlus } from "lucide-react";
import { useState } from "react";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { ScheduleDialog } from "./schedule-dialog.tsx";

/** Schedules an agent of the marketplace. */
export function ScheduleButton({ card: { id, name, owner, input_schema, pricing } }: { card: AgentCard }) {
  const [isOpen, setOpen] = useState(false);
  const { username, key } = useSession();
  if (!mayOpen(key, "unconfined keys")) return null;
  const price = username === owner ? {} : { price: pricing.per_run };
  return (
    <>
      <Button icon={<CalendarPlus size={14} />} onClick={() => setOpen(true)}>
        Schedule
      </Button>
      {isOpen && <ScheduleDialog agent={{ id, name, schema: input_schema, ...price }} onClose={() => setOpen(false)} />}
    </>
  );
}
