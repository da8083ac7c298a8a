/** How many attempts may run at once on this node. */
export interface SendLimits {
  total: number;
  /** To one destination. One that did not answer in time gets one, until it answers again. */
  perDestination: number;
  perUser: number;
}

interface Room {
  name: string;
  room: number;
}

/** What is free at this moment. Who is not listed has the whole limit. */
export interface Rooms {
  free: number;
  perDestination: number;
  perUser: number;
  destinations: Room[];
  users: Room[];
}

export interface RoomKeeper {
  rooms(): Rooms;
  take(destination: string, userId: string): void;
  giveBack(destination: string, userId: string): void;
  /** Whether the destination answered in time. */
  note(destination: string, answered: boolean): void;
}

/** Destinations are chosen by users, so only so many are remembered; the oldest memory goes first. */
const mostRemembered = 2000;

export function createRoomKeeper(limits: SendLimits): RoomKeeper {
  let running = 0;
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
    add(byDestination, destination, change);
    add(byUser, userId, change);
  };
  const limitOf = (destination: string) => (silent.has(destination) ? 1 : limits.perDestination);

  return {
    rooms: () => ({
      free: limits.total - running,
      perDestination: limits.perDestination,
      perUser: limits.perUser,
      destinations: [...new Set([...byDestination.keys(), ...silent])].map((name) => ({
        name,
        room: Math.max(0, limitOf(name) - (byDestination.get(name) ?? 0)),
      })),
      users: [...byUser].map(([name, count]) => ({ name, room: Math.max(0, limits.perUser - count) })),
    }),
    take: (destination, userId) => move(destination, userId, 1),
    giveBack: (destination, userId) => move(destination, userId, -1),
    note(destination, answered) {
      silent.delete(destination);
      if (answered) return;
      silent.add(destination);
      for (const oldest of silent) {
        if (silent.size <= mostRemembered) break;
        silent.delete(oldest);
      }
    },
  };
}
