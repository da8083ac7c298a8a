import { describe, expect, it } from "vitest";
import { createCron } from "../../engines/cron/croner-cron.ts";
import { type DueSchedule, decideDue, mostQueued } from "./due.rules.ts";

const cron = createCron();
const at = (time: string) => new Date(`2026-05-04T${time}Z`);

const base: DueSchedule = {
  cron: "0 * * * *",
  timezone: "UTC",
  missed: "skip",
  overlap: "skip",
  nextAt: at("10:00"),
  upcoming: [],
  liveRuns: 0,
};

function decide(change: Partial<DueSchedule>, now: string) {
  const { upcoming, ...decision } = decideDue({ ...base, ...change }, at(now), cron);
  return { ...decision, next: upcoming[0]?.toISOString().slice(11, 16), shown: upcoming.length };
}

const rest = { shown: 5 };

describe("a due time", () => {
  it.each(["10:00:00.400", "10:04:59"])("on time at %s has its run, and the next one follows", (now) => {
    expect(decide({}, now)).toEqual({ kind: "run", dueAt: at("10:00"), next: "11:00", ...rest });
    expect(decide({ missed: "once" }, now)).toEqual({ kind: "run", dueAt: at("10:00"), next: "11:00", ...rest });
  });

  it("that is late is skipped", () => {
    expect(decide({}, "10:05:01")).toMatchObject({ kind: "skip", skippedAt: at("10:00"), next: "11:00" });
  });

  it("on time has its run even if earlier ones were missed", () => {
    const skipped = decide({}, "14:02");
    expect(skipped).toMatchObject({ kind: "skip", skippedAt: at("13:00"), next: "14:00" });
    expect(decide({ nextAt: at("14:00") }, "14:02")).toMatchObject({ kind: "run", dueAt: at("14:00"), next: "15:00" });
  });

  it("stands for all missed ones, if the schedule makes up for them", () => {
    expect(decide({ missed: "once" }, "14:02")).toMatchObject({ kind: "run", dueAt: at("14:00"), next: "15:00" });
    expect(decide({ missed: "once" }, "13:50")).toMatchObject({ kind: "run", dueAt: at("13:00"), next: "14:00" });
  });

  it("of every minute is not lost in a short outage", () => {
    const minutely = { cron: "* * * * *" };
    expect(decide(minutely, "10:03")).toMatchObject({ kind: "run", dueAt: at("10:00"), next: "10:01" });
    expect(decide(minutely, "11:00")).toMatchObject({ kind: "skip", skippedAt: at("10:54"), next: "10:55" });
  });

  it("is skipped while a run is under way, unless runs queue", () => {
    expect(decide({ liveRuns: 1 }, "10:00")).toMatchObject({ kind: "skip", skippedAt: at("10:00"), next: "11:00" });
    expect(decide({ liveRuns: 1, overlap: "queue" }, "10:00")).toMatchObject({ kind: "run" });
    expect(decide({ liveRuns: mostQueued, overlap: "queue" }, "10:00")).toMatchObject({ kind: "skip" });
  });

  it("that is not known yet is found from the present", () => {
    expect(decide({ nextAt: null, missed: "once" }, "14:02")).toEqual({ kind: "find", next: "15:00", ...rest });
  });

  it("keeps the known times after it, unless the rules of the time zone changed", () => {
    const known = ["11:00", "12:00", "13:00", "14:00"].map(at);
    const { upcoming } = decideDue({ ...base, upcoming: [at("10:00"), ...known] }, at("10:00"), cron);
    expect(upcoming).toEqual([...known, at("15:00")]);
    const stale = ["10:30", "11:30"].map(at);
    expect(decideDue({ ...base, upcoming: stale }, at("10:00"), cron).upcoming).toEqual([...known, at("15:00")]);
  });
});
