/** How many attempts may run at once on this node. */
export interface SendLimits {
  total: number;
  /** Of one user to one destination, a lane. One that did not answer in time gets one, until it answers again. */
  perLane: number;
  /** Of all users to one destination: several lanes, so that one user's dead receiver there is nobody else's trouble. */
  perDestination: number;
  /**
   * Or what the plan allows in parallel, where that is less. Half of it is for all lanes together that are not known to
   * answer: silent ones must not hold up those that do.
   */
  perUser: number;
}

interface Room {
  name: string;
  room: number;
}

interface UserLoad {
  name: string;
  running: number;
  /** Of these, to lanes that are not known to answer. */
  unsureRunning: number;
}

interface LaneRoom {
  destination: string;
  userId: string;
  room: number;
  /** What its receiver did last time, as far as this node remembers: neither where it is new. */
  answers: boolean;
  isSilent: boolean;
}

/** What is free at this moment. Who is not listed has the whole limit. */
export interface Rooms {
  free: number;
  perLane: number;
  perDestination: number;
  perUser: number;
  perUserUnsure: number;
  lanes: LaneRoom[];
  destinations: Room[];
  users: UserLoad[];
}

export interface SendQuotas {
  rooms(): Rooms;
  take(destination: string, userId: string): void;
  giveBack(destination: string, userId: string): void;
  /** Whether the receiver answered in time. */
  note(destination: string, userId: string, answered: boolean): void;
}

/** Destinations are chosen by users, so only so many of either kind are remembered; the oldest memory goes first. */
const mostRemembered = 2000;

/** A destination is an origin: no space stands in one, nor in an id. */
const laneOf = (destination: string, userId: string) => `${destination} ${userId}`;

export function createRoomKeeper(limits: SendLimits): SendQuotas {
  let running = 0;
  const byLane = new Map<string, number>();
  const byDestination = new Map<string, number>();
  const byUser = new Map<string, number>();
  const answering = new Set<string>();
  const silent = new Set<string>();
  const perUserUnsure = Math.max(1, Math.floor(limits.perUser / 2));

  const add = (counts: Map<string, number>, name: string, change: number) => {
    const count = (counts.get(name) ?? 0) + change;
    if (count > 0) counts.set(name, count);
    else counts.delete(name);
  };
  const move = (destination: string, userId: string, change: number) => {
    running += change;
    add(byLane, laneOf(destination, userId), change);
    add(byDestination, destination, change);
    add(byUser, userId, change);
  };
  const left = (counts: Map<string, number>, limit: number): Room[] =>
    [...counts].map(([name, count]) => ({ name, room: Math.max(0, limit - count) }));
  const laneRoom = (lane: string): LaneRoom => {
    const [destination = "", userId = ""] = lane.split(" ");
    const isSilent = silent.has(lane);
    const room = Math.max(0, (isSilent ? 1 : limits.perLane) - (byLane.get(lane) ?? 0));
    return { destination, userId, room, answers: answering.has(lane), isSilent };
  };
  const userLoads = (): UserLoad[] => {
    const unsure = new Map<string, number>();
    for (const [lane, count] of byLane) if (!answering.has(lane)) add(unsure, lane.split(" ")[1] ?? "", count);
    return [...byUser].map(([name, running]) => ({ name, running, unsureRunning: unsure.get(name) ?? 0 }));
  };

  return {
    rooms: () => ({
      free: limits.total - running,
      perLane: limits.perLane,
      perDestination: limits.perDestination,
      perUser: limits.perUser,
      perUserUnsure,
      lanes: [...new Set([...byLane.keys(), ...silent, ...answering])].map(laneRoom),
      destinations: left(byDestination, limits.perDestination),
      users: userLoads(),
    }),
    take: (destination, userId) => move(destination, userId, 1),
    giveBack: (destination, userId) => move(destination, userId, -1),
    note(destination, userId, answered) {
      const lane = laneOf(destination, userId);
      answering.delete(lane);
      silent.delete(lane);
      const alike = answered ? answering : silent;
      alike.add(lane);
      for (const oldest of alike) {
        if (alike.size <= mostRemembered) break;
        alike.delete(oldest);
      }
    },
  };
}
