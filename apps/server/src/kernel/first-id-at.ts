const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Ids sort by creation time: every id with the prefix created before the moment is smaller than this one. */
export function firstIdAt(prefix: string, moment: Date): string {
  let time = "";
  for (let rest = Math.max(0, moment.getTime()), i = 0; i < 10; i++) {
    time = digits.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${time}`;
}

/** The time that an id begins with. */
export function timeOfId(id: string): Date {
  const time = id.slice(id.indexOf("_") + 1).slice(0, 10);
  return new Date([...time].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0));
}
