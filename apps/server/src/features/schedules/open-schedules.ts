import { type ChangeScheduleBody, isId, newId, type ReadScheduleBody } from "@gantry/wire";
import type { Cron, CronTimes } from "../../engines/cron/cron.ts";
import type { Database } from "../../engines/database/database.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { type Micros, microsOfDollars } from "../../kernel/money.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import { type Caller, type Page, refuseExpiring, scopeOf } from "../accounts/index.ts";
import { type Agents, agentNotFound, priceFor } from "../agents/index.ts";
import type { CreatedRun, Runs } from "../runs/index.ts";
import { recordSchedule } from "./record-schedule.ts";
import {
  isActive,
  runBodyOf,
  type Schedule,
  type ScheduleSettings,
  scheduleNotFound,
  sequenceOf,
  shownTimes,
} from "./schedule.ts";
import {
  deleteSchedule,
  findSchedule,
  insertSchedule,
  noteRun,
  readNow,
  selectSchedules,
  updateSchedule,
} from "./store.ts";

export interface SchedulesDeps {
  database: Database;
  cron: Cron;
  runs: Pick<Runs, "create">;
  agents: Pick<Agents, "readAgent">;
}

/** The request behind a call: runs use its key, and their links its address. */
export interface Requester {
  caller: Caller;
  baseUrl: string;
}

export interface ListSchedulesQuery {
  agentId?: string | undefined;
  limit: number;
  offset: number;
}

/** A key limited to models sees only schedules that use it. */
export interface Schedules {
  create(requester: Requester, agentId: string, body: ReadScheduleBody): Promise<Schedule>;
  list(caller: Caller, query: ListSchedulesQuery): Promise<Page<Schedule>>;
  /** The agent must exist for the caller, or have schedules of the caller. */
  listOfAgent(caller: Caller, agentId: string, range: { limit: number; offset: number }): Promise<Page<Schedule>>;
  read(caller: Caller, id: string): Promise<Schedule>;
  change(requester: Requester, id: string, change: ChangeScheduleBody): Promise<Schedule>;
  remove(caller: Caller, id: string): Promise<void>;
  /** Creates a run now. */
  run(requester: Requester, id: string, idempotencyKey: string | undefined): Promise<CreatedRun>;
}

const mostSchedules = 1000;
const mostInputCharacters = 262_144;
/** A due time that is handled meanwhile also changes the row. */
const mostAttempts = 10;

/** Fields that decide whether a run is accepted. */
const runFields = ["input", "max_cost", "approve", "connectors", "thread_id", "expected_price"] as const;

/** Ends the transaction of a run that is only checked. */
class OnlyChecked extends Error {}

export function openSchedules({ database, cron, runs, agents }: SchedulesDeps): Schedules {
  const { sql } = database;

  async function find(caller: Caller, id: string): Promise<Schedule> {
    const schedule = isId("schedule", id) ? await findSchedule(sql, scopeOf(caller), id) : undefined;
    if (!schedule) throw scheduleNotFound();
    return schedule;
  }

  /** Rejects as the creation of such a run would: agent, key, funds, limits, input. No run is created. */
  async function checkRun({ caller, baseUrl }: Requester, agentId: string, settings: ScheduleSettings): Promise<void> {
    const within = async () => {
      throw new OnlyChecked();
    };
    const body = runBodyOf(settings);
    const source = { id: newId("schedule"), within };
    await runs
      .create({ caller, address: { agentId }, body, idempotencyKey: undefined, baseUrl, source })
      .catch((error) => {
        if (!(error instanceof OnlyChecked)) throw error;
      });
  }

  /** The price that the caller was shown. */
  async function presentPrice(caller: Caller, agentId: string): Promise<Micros | null> {
    return microsIfAny(priceFor(caller, await agents.readAgent(caller, agentId)));
  }

  function checkSettings(body: ChangeScheduleBody, times: CronTimes, now: Date): void {
    throwIfAny(storableIssues(body).issues);
    const issues: Issue[] = [];
    if (body.input && JSON.stringify(body.input).length > mostInputCharacters) {
      const msg = `The input of a schedule can have at most ${mostInputCharacters} characters as JSON. Store larger content in a drive.`;
      issues.push({ type: "value_error", loc: ["body", "input"], msg });
    }
    const problem = body.cron !== undefined || body.timezone !== undefined ? cron.check(times, now) : undefined;
    if (problem) issues.push({ type: "value_error", loc: ["body", problem.field], msg: problem.message });
    throwIfAny(issues);
  }

  return {
    async create(requester, agentId, body) {
      if (!isId("agent", agentId)) throw agentNotFound();
      const { caller } = requester;
      refuseExpiring(caller);
      const now = await readNow(sql);
      const wanted = settingsOf(body);
      checkSettings(body, wanted, now);
      await checkRun(requester, agentId, wanted);
      const settings = {
        ...wanted,
        ...(body.expected_price === undefined && { expectedPrice: await presentPrice(caller, agentId) }),
      };
      const { userId, keyId } = caller;
      const id = newId("schedule");
      const upcoming = settings.enabled ? cron.next(settings, now, shownTimes) : [];
      const row = { ...settings, id, userId, keyId, agentId, baseUrl: requester.baseUrl, upcoming };
      const isCreated = await database.transaction(async (tx) => {
        if (!(await insertSchedule(tx, row, mostSchedules))) return false;
        await recordSchedule(tx, "schedule.create", { after: row });
        return true;
      });
      if (!isCreated) {
        throw fault("conflict", `You have ${mostSchedules.toLocaleString("en")} schedules. Delete one first.`);
      }
      return find(caller, id);
    },
    list: (caller, query) => selectSchedules(sql, scopeOf(caller), query),
    async listOfAgent(caller, agentId, range) {
      if (!isId("agent", agentId)) throw agentNotFound();
      const page = await selectSchedules(sql, scopeOf(caller), { ...range, agentId });
      if (page.total === 0) await agents.readAgent(caller, agentId);
      return page;
    },
    read: find,
    async change(requester, id, change) {
      const { caller, baseUrl } = requester;
      const first = await find(caller, id);
      const now = await readNow(sql);
      checkSettings(change, { ...first, ...settingsIn(change) }, now);
      const isOtherKey = first.keyId !== caller.keyId;
      const willRun = change.enabled === true || (isActive(first) && change.enabled !== false && isOtherKey);
      if (willRun || runFields.some((field) => change[field] !== undefined)) {
        await checkRun(requester, first.agentId, { ...first, ...settingsIn(change) });
      }
      for (let attempt = 1; attempt <= mostAttempts; attempt++) {
        const before = attempt === 1 ? first : await find(caller, id);
        const settings = { ...before, ...settingsIn(change) };
        const pausedReason = change.enabled === true ? null : before.pausedReason;
        const after = { ...settings, keyId: caller.keyId, baseUrl, pausedReason };
        if (isActive(after)) refuseExpiring(caller);
        const isChanged = await database.transaction(async (tx) => {
          const row = { ...after, upcoming: timesOf(before, after, change, now) };
          if (!(await updateSchedule(tx, before, row))) return false;
          await recordSchedule(tx, "schedule.update", { before, after });
          return true;
        });
        if (isChanged) return find(caller, id);
      }
      throw fault("conflict", "The schedule is being changed by other requests. Try again.");
    },
    async remove(caller, id) {
      const before = await find(caller, id);
      await database.transaction(async (tx) => {
        if (!(await deleteSchedule(tx, scopeOf(caller), id))) throw scheduleNotFound();
        await recordSchedule(tx, "schedule.delete", { before });
      });
    },
    async run({ caller, baseUrl }, id, idempotencyKey) {
      const schedule = await find(caller, id);
      return runs.create({
        caller,
        address: { agentId: schedule.agentId },
        body: runBodyOf(schedule),
        idempotencyKey,
        baseUrl,
        source: {
          id,
          sequence: sequenceOf(id, schedule),
          async within(tx, runId) {
            if (!(await noteRun(tx, id, runId))) throw scheduleNotFound();
          },
        },
      });
    },
  };

  /** New due times, from now on, if the expression changed or the schedule becomes active. */
  function timesOf(
    before: Schedule,
    after: Pick<Schedule, "enabled" | "pausedReason"> & CronTimes,
    change: ChangeScheduleBody,
    now: Date,
  ): readonly Date[] | undefined {
    if (!isActive(after)) return [];
    const isSame = change.cron === undefined && change.timezone === undefined;
    return isActive(before) && isSame ? undefined : cron.next(after, now, shownTimes);
  }
}

function settingsOf({ name = null, ...body }: ReadScheduleBody): ScheduleSettings {
  return {
    maxCost: null,
    approve: [],
    connectors: [],
    threadId: null,
    expectedPrice: null,
    cron: body.cron,
    timezone: body.timezone,
    input: body.input,
    missed: body.missed,
    overlap: body.overlap,
    enabled: body.enabled,
    ...settingsIn(body),
    name,
  };
}

const microsIfAny = (dollars: number | null) => (dollars === null ? null : microsOfDollars(dollars));

/** The settings that a body has. */
function settingsIn(body: ChangeScheduleBody): Partial<ScheduleSettings> {
  const { max_cost: maxCost, thread_id: threadId, expected_price: expectedPrice, ...same } = body;
  const given = Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined));
  return {
    ...(given as Partial<ScheduleSettings>),
    ...(maxCost !== undefined && { maxCost: microsIfAny(maxCost) }),
    ...(threadId !== undefined && { threadId }),
    ...(expectedPrice !== undefined && { expectedPrice: microsIfAny(expectedPrice) }),
  };
}
