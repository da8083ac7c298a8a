/** How many attempts may run at once on this node. */
export interface SendLimits {
  total: number;
  /** Of one user to one destination, a lane. One that did not answer in time gets one, until it answers again. */
  perLane: number;
  /** Of all users to one destination: several lanes, so that one user's dead receiver there is nobody else's trouble. */
  perDestination: number;
  perUser: number;
}

interface Room {
  name: string;
  room: number;
}

interface LaneRoom {
  destination: string;
  userId: string;
  room: number;
}

/** What is free at this moment. Who is not listed has the whole limit. */
export interface Rooms {
  free: number;
  perLane: number;
  perDestination: number;
  perUser: number;
  lanes: LaneRoom[];
  destinations: Room[];
  users: Room[];
}

export interface RoomKeeper {
  rooms(): Rooms;
  take(destination: string, userId: string): void;
  giveBack(destination: string, userId: string): void;
  /** Whether the receiver answered in time. */
  note(destination: string, userId: string, answered: boolean): void;
}

/** Destinations are chosen by users, so only so many are remembered; the oldest memory goes first. */
const mostRemembered = 2000;

/** A destination is an origin: no space stands in one, nor in an id. */
const laneOf = (destination: string, userId: string) => `${destination} ${userId}`;

export function createRoomKeeper(limits: SendLimits): RoomKeeper {
  let running = 0;
  const byLane = new Map<string, number>();
  const byDestination = new Map<string, number>();
  const byUser = new Map<string, number>();
  const silent = new Set<string>();

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
    const limit = silent.has(lane) ? 1 : limits.perLane;
    return { destination, userId, room: Math.max(0, limit - (byLane.get(lane) ?? 0)) };
  };

  return {
    rooms: () => ({
      free: limits.total - running,
      perLane: limits.perLane,
      perDestination: limits.perDestination,
      perUser: limits.perUser,
      lanes: [...new Set([...byLane.keys(), ...silent])].map(laneRoom),
      destinations: left(byDestination, limits.perDestination),
      users: left(byUser, limits.perUser),
    }),
    take: (destination, userId) => move(destination, userId, 1),
    giveBack: (destination, userId) => move(destination, userId, -1),
    note(destination, userId, answered) {
      const lane = laneOf(destination, userId);
      silent.delete(lane);
      if (answered) return;
      silent.add(lane);
      for (const oldest of silent) {
        if (silent.size <= mostRemembered) break;
        silent.delete(oldest);
      }
    },
  };
}
