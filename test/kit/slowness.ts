import { Script } from 'node:vm';
import { threadMs } from './thread-time.ts';

/** CPU time of {@link WORK} on a machine for which the bounds of CPU time in tests are stated: a core of 3 GHz or more. */
const REFERENCE_MS = 14;
const RUNS = 5;

/**
 * How many times as long work takes in this thread, now, as on the machine that bounds are stated for; at least 1. CPU time depends
 * on the machine and on what shares its caches and memory: what exceeds a bound is compared with other work of the same moment.
 */
export function slowness(): number {
  const runs = Array.from({ length: RUNS }, (_, run) => {
    const script = new Script(`${WORK}// ${run} ${performance.now()}`);
    const begun = threadMs();
    script.runInThisContext();
    return threadMs() - begun;
  });
  const median = runs.sort((one, other) => one - other)[Math.floor(RUNS / 2)] ?? 0;
  return Math.max(1, median / REFERENCE_MS);
}

/**
 * What a server does with a body: it reads texts, makes objects, judges values, sorts keys and writes texts. A text, which each run
 * compiles anew: compilers get faster with each run of what they know, and a request is rarely what they know.
 */
const WORK = `(() => {
  const values = Array.from({ length: 12_000 }, (_, at) => ({ name: 'value-' + ((at * 7919) % 12_000), at, tags: ['a', 'b'] }));
  const read = JSON.parse(JSON.stringify(values));
  function* each(items) { for (const [at, item] of items.entries()) yield [{ parent: items, at }, item]; }
  const wrong = [];
  for (const [path, { name, tags }] of each(read)) {
    let sum = 0;
    for (let at = 0; at < name.length; at += 1) sum = (sum * 31 + name.charCodeAt(at)) % 65537;
    if (!/^[a-z]+-\\d+$/.test(name) || sum === 1 || tags.length > 2) wrong.push(path);
  }
  const names = new Map(read.map((value) => [value.name.replace('-', '.'), { ...value, sum: wrong.length }]));
  return [...names.keys()].sort().join('\\n').length;
})()`;
