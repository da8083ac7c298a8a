import type { Database } from "../../../engines/database/database.ts";
import type { Failover } from "../../../engines/models/failover.ts";
import type { Log } from "../../../kernel/log.ts";
import { repeat } from "../../../kernel/repeat.ts";
import {
  type BackendAddress,
  circuitsChannel,
  claimProbe,
  closeCircuit,
  listCircuits,
  openCircuit,
  releaseProbe,
  type SharedCircuit,
} from "./backend-store.ts";
import { type Circuit, type CircuitState, opensAfter, stateOf } from "./circuit.rules.ts";

export interface CircuitCall {
  startedAt: number;
  isProbe: boolean;
}

/** The circuits of all backends, read from memory. Only changes are written. */
export interface Circuits {
  state(address: BackendAddress): CircuitState;
  /** True for one call over all nodes, which must report how it ended. */
  claimProbe(address: BackendAddress): Promise<boolean>;
  answered(address: BackendAddress, call: CircuitCall): void;
  failed(address: BackendAddress, call: CircuitCall, failure: Pick<Failover, "reason" | "retryAfterMs">): void;
  /** The probe was cancelled before the backend answered. */
  abandoned(address: BackendAddress): void;
  /** Circuits that are not closed. */
  openCount(): number;
  stop(): Promise<void>;
}

function isEarlier({ openUntil, openedAt }: Circuit, { startedAt, isProbe }: CircuitCall): boolean {
  return openUntil !== undefined && startedAt < openedAt && !isProbe;
}

const retryWritesMs = 1_000;
/** Until the database has decided. */
const assumedPauseMs = 5_000;

export async function openCircuits({
  database,
  nodeId,
  log,
}: {
  database: Database;
  nodeId: string;
  log: Log;
}): Promise<Circuits> {
  const { sql } = database;
  /** Circuits that are not closed, or have failures. */
  const known = new Map<string, Circuit>();
  /** Writes that failed. The last one of a circuit counts. */
  const unwritten = new Map<string, () => Promise<void>>();

  const keyOf = ({ modelId, backend }: BackendAddress) => `${modelId} ${backend}`;

  function circuitOf(key: string): Circuit {
    let circuit = known.get(key);
    if (!circuit) {
      circuit = { failures: 0, openUntil: undefined, openedAt: 0, probedAt: undefined };
      known.set(key, circuit);
    }
    return circuit;
  }

  function take({ model, backend, openMs, probing = false }: SharedCircuit): void {
    if (backend === undefined) {
      for (const key of known.keys()) if (key.startsWith(`${model} `)) known.delete(key);
      return;
    }
    const key = keyOf({ modelId: model, backend });
    if (openMs === undefined) {
      known.delete(key);
      return;
    }
    const circuit = circuitOf(key);
    if (circuit.openUntil === undefined) circuit.openedAt = performance.now();
    circuit.openUntil = performance.now() + openMs;
    circuit.probedAt = probing ? performance.now() : undefined;
  }

  async function readAll(): Promise<void> {
    const shared = await listCircuits(sql);
    known.clear();
    for (const one of shared) take(one);
  }

  const readAgain = () =>
    void readAll().catch((error) => {
      log.warn({ err: error }, "The circuits of backends could not be read; trying again");
      unwritten.set("", readAll);
    });

  function write(key: string, work: () => Promise<void>): void {
    unwritten.delete(key);
    work().catch((error) => {
      log.warn({ err: error }, "The circuit of a backend could not be written; trying again");
      unwritten.set(key, work);
    });
  }

  async function writeAgain(): Promise<void> {
    for (const [key, work] of unwritten) {
      await work();
      if (unwritten.get(key) === work) unwritten.delete(key);
    }
  }

  const listener = await database.listen(circuitsChannel, (payload) => take(JSON.parse(payload)), readAgain);
  await readAll();
  const writing = repeat(writeAgain, retryWritesMs, () => {});

  return {
    state(address) {
      const circuit = known.get(keyOf(address));
      return circuit ? stateOf(circuit, performance.now()) : "closed";
    },
    async claimProbe(address) {
      try {
        const isClaimed = await claimProbe(sql, address, nodeId);
        // Also if another node probes: the next calls need not ask.
        circuitOf(keyOf(address)).probedAt = performance.now();
        return isClaimed;
      } catch (error) {
        log.warn({ err: error }, "The probe of a backend could not be claimed");
        // The claim may have taken effect although its reply was lost.
        write(keyOf(address), () => releaseProbe(sql, address, nodeId));
        return false;
      }
    },
    answered(address, call) {
      const key = keyOf(address);
      const circuit = known.get(key);
      if (!circuit || isEarlier(circuit, call)) return;
      known.delete(key);
      if (circuit.openUntil !== undefined) write(key, () => closeCircuit(sql, address));
    },
    failed(address, call, { reason, retryAfterMs }) {
      const key = keyOf(address);
      const circuit = circuitOf(key);
      if (isEarlier(circuit, call)) return;
      circuit.failures++;
      const { failures } = circuit;
      const now = performance.now();
      const isOpen = circuit.openUntil !== undefined;
      if (isOpen && now < (circuit.openUntil ?? 0)) return;
      const { opens, askedMs } = opensAfter(failures, retryAfterMs);
      if (!isOpen && !opens) return;
      if (!isOpen) circuit.openedAt = now;
      circuit.openUntil = now + (askedMs ?? assumedPauseMs);
      circuit.probedAt = undefined;
      if (!isOpen) log.warn({ ...address, reason, failures }, "A backend fails and is left out for a while");
      write(key, () => openCircuit(sql, { ...address, nodeId, reason, failures, askedMs }));
    },
    abandoned(address) {
      write(keyOf(address), () => releaseProbe(sql, address, nodeId));
    },
    openCount: () => [...known.values()].filter(({ openUntil }) => openUntil !== undefined).length,
    async stop() {
      await Promise.all([listener.stop(), writing.stop()]);
    },
  };
}
