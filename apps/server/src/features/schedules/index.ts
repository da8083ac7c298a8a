export { openSchedules, type Schedules } from "./open-schedules.ts";
export { agentGone } from "./refusal.rules.ts";
export { isActive, type Schedule } from "./schedule.ts";
export { type Scheduler, startScheduler } from "./start-scheduler.ts";
export { forgetDueTimes } from "./store.ts";
