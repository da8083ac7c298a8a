const prefix = "GANTRY_";
/** Settings of the command alone, which the same environment may hold. */
const ofCommand = ["GANTRY_URL", "GANTRY_KEY"];
/** What Kubernetes tells every container of a service whose name begins with "gantry"; nobody chose it. */
const ofKubernetes = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/;
const kubernetesAddress = /^(tcp|udp|sctp):\/\//;

/** A sentence for each variable that looks like a setting and is none. No value is told: it may be a secret. */
export function unknownSettings(environment: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  return Object.entries(environment)
    .filter(([name, value = ""]) => {
      if (!name.startsWith(prefix) || value.trim() === "") return false;
      if (ofKubernetes.test(name) || (name.endsWith("_PORT") && kubernetesAddress.test(value))) return false;
      return !known.includes(name) && !ofCommand.includes(name);
    })
    .map(([name]) => {
      const meant = nearest(name, known);
      return `${name} is no setting and has no effect${meant === undefined ? "" : `: is ${meant} meant?`}`;
    });
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const own = name.slice(prefix.length);
  if (known.includes(own)) return own;
  const [best] = known
    .filter((one) => one.startsWith(prefix))
    .map((one) => ({ one, edits: editsBetween(own, one.slice(prefix.length)) }))
    .sort((a, b) => a.edits - b.edits);
  return best && best.edits <= Math.max(2, own.length / 4) ? best.one : undefined;
}

/** How many letters have to be changed, added or taken away (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
