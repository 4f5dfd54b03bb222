import { parseArgs } from 'node:util';
import { openRunFolder } from '../kit/run-folder.ts';
import { chooseFaults, scheduleOf, scheduleOfUpgrade } from './nemesis/schedule.ts';
import { Random } from './random.ts';
import { report } from './report.ts';
import { runFaults } from './run.ts';
import { SERVERS } from './world/world.ts';

/**
 * `npm run faults -- --minutes=10 --seed=7 --only=promotion,cut`. Ends with 1 when a promise was broken. With
 * `--from=folder/dist/main.js` servers begin as that version, and are upgraded one after the other.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    from: { type: 'string' },
  },
});

const seed = Number(values.seed);
const durationMs = Number(values.minutes) * 60_000;
if (!Number.isInteger(seed)) throw new Error(`--seed must be a whole number, not ${values.seed}`);
if (!(durationMs > 0)) throw new Error(`--minutes must be a number above 0, not ${values.minutes}`);
const chosen = scheduleOf(
  chooseFaults(values.only.split(',').filter((name) => name !== '')),
  new Random(seed),
);
const { from } = values;
const upgrade =
  from === undefined ? { faults: chosen } : { faults: scheduleOfUpgrade(chosen, SERVERS), from };
const folder = openRunFolder();
const say = (line: string): void => console.log(line);
say(`seed ${seed}`);
try {
  const verdict = await runFaults({ seed, durationMs, say, ...upgrade });
  report(verdict, say);
  process.exitCode = verdict.findings.length === 0 ? 0 : 1;
} finally {
  folder.remove();
}
process.exit();
