import { usernamePattern } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Caller } from "../context.ts";
import { isConfined, isLimited } from "../key-reach.rules.ts";
import type { Asked, Seat } from "./caller-store.ts";

interface Remembered {
  seat: Seat | null;
  since: number;
}

/** As for keys: changes are announced at once, and this bounds the effect of a lost announcement. */
const freshMillis = 1000;
const renewMillis = freshMillis / 2;
const mostRemembered = 10_000;

export interface Acting {
  /** The caller that a person is when it acts for a team. */
  actFor(person: Caller, team: string): Promise<Caller>;
  /** Call after a change to a team, its members or a person is committed. */
  forgetUser(userId: string): void;
  forgetAll(): void;
}

/** Remembers seats for a second, so that acting for a team costs one lookup in memory per request. */
export function createActing({
  findSeat,
  noteUse,
  log,
}: {
  findSeat(asked: Asked): Promise<Seat | null>;
  noteUse(seat: Seat): void;
  log: Log;
}): Acting {
  const memory = new Map<string, Remembered>();
  const pending = new Map<string, Promise<Seat | null>>();
  let changes = 0;

  function lookUp(address: string, asked: Asked): Promise<Seat | null> {
    const shared = pending.get(address);
    if (shared) return shared;
    const lookup = ask(address, asked).finally(() => {
      if (pending.get(address) === lookup) pending.delete(address);
    });
    pending.set(address, lookup);
    return lookup;
  }

  async function ask(address: string, asked: Asked): Promise<Seat | null> {
    const changesBefore = changes;
    const since = performance.now();
    const seat = await findSeat(asked);
    // The answer may be older than a change that happened meanwhile.
    if (changes === changesBefore) remember(address, { seat, since });
    if (seat) noteUse(seat);
    return seat;
  }

  function remember(address: string, entry: Remembered): void {
    memory.delete(address);
    memory.set(address, entry);
    if (memory.size <= mostRemembered) return;
    for (const oldest of memory.keys()) {
      memory.delete(oldest);
      return;
    }
  }

  /** Later requests must not join a lookup that began before the change. */
  function dropLookups(): void {
    changes += 1;
    pending.clear();
  }

  return {
    async actFor(person, team) {
      if (person.team) return ofTeamKey(person, team);
      refuseRestricted(person);
      if (!usernamePattern.test(team)) throw teamNotFound();
      const address = `${person.userId} ${team}`;
      const asked = { personId: person.userId, team };
      const known = memory.get(address);
      const age = known ? performance.now() - known.since : Number.POSITIVE_INFINITY;
      if (known?.seat && age >= renewMillis && age < freshMillis) {
        lookUp(address, asked).catch((error) => log.warn({ err: error }, "Failed to refresh a cached seat"));
      }
      const seat = known && age < freshMillis ? known.seat : await lookUp(address, asked);
      if (!seat) throw teamNotFound();
      return callerOfSeat(person, seat);
    },
    forgetUser(userId) {
      dropLookups();
      for (const [address, { seat }] of memory) {
        if (seat === null || seat.userId === userId || seat.team.member.userId === userId) memory.delete(address);
      }
    },
    forgetAll() {
      dropLookups();
      memory.clear();
    },
  };
}

/** The request is the team's. The person's key bounds how long it may act, and keeps its name in logs. */
function callerOfSeat(person: Caller, seat: Seat): Caller {
  return Object.freeze({
    ...person,
    userId: seat.userId,
    username: seat.username,
    role: "user",
    plan: seat.plan,
    keyId: seat.keyId,
    keyName: seat.keyName,
    boundTokensPerMinute: seat.boundTokensPerMinute,
    parentId: null,
    team: seat.team,
  });
}

function ofTeamKey(caller: Caller, team: string): Caller {
  if (caller.username === team) return caller;
  const message = `This key belongs to the team ${caller.username}. Leave out X-Gantry-Team, or use your own key.`;
  throw fault("forbidden", message);
}

/** Such a key is bounded to a part of what its owner may do, which the rights of a team would exceed. */
function refuseRestricted(person: Caller): void {
  if (person.graceEndsAt !== null) {
    throw fault("forbidden", "This secret was replaced by a rotation and cannot act for a team. Use the new secret.");
  }
  if (isConfined(person)) {
    const advice = "Use a key without a list of models, or a key of the team.";
    throw fault("forbidden", `This key is limited to some models and cannot act for a team. ${advice}`);
  }
  if (isLimited(person)) {
    const advice = "Use a key without limits, or a key of the team.";
    throw fault("forbidden", `This key has a limit and cannot act for a team. ${advice}`);
  }
}

/** Call it before a caller sets up work for later. A person's work for a team belongs to its seat, which has no end. */
export function refuseExpiring({ team, keyId, expiresAt }: Caller): void {
  if (team === null || keyId !== team.seatId || expiresAt === null) return;
  const advice = "Use a key that does not expire, or a key of the team.";
  throw fault("forbidden", `This key expires, but schedules and triggers of a team go on. ${advice}`);
}

/** The same for unknown teams and for those of others. */
export function teamNotFound() {
  return fault("not_found", "Team not found");
}
