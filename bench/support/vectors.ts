/** A pseudorandom sequence from 0 to 1, the same in each run. */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function unitVector(dimensions: number, next: () => number): Float32Array {
  const values = new Float32Array(dimensions);
  let sum = 0;
  for (let n = 0; n < dimensions; n++) {
    const value = next() - 0.5;
    values[n] = value;
    sum += value * value;
  }
  const factor = 1 / Math.sqrt(sum);
  for (let n = 0; n < dimensions; n++) values[n] = (values[n] as number) * factor;
  return values;
}
