import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { PROMISES } from './parsers.ts';

/**
 * npm run fuzz -- --minutes=N [--only=TEXT]
 *
 * Tries all promises in turn, with other cases each time, until the time is up. Prints a case that breaks a promise with the seed
 * finds it again, in its smallest form. Answers 1 when something broke.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, only: { type: 'string', default: '' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not ${values.minutes}`);
const chosen = PROMISES.filter(({ name }) => name.includes(values.only));
if (chosen.length === 0)
  throw new Error(
    `--only=${values.only} is in the name of none: ${PROMISES.map(({ name }) => name).join('; ')}`,
  );

const CASES = 1000;
const until = Date.now() + minutes * 60_000;
const broken = new Set<string>();
let cases = 0;
for (let round = 0; Date.now() < until && broken.size < chosen.length; round += 1) {
  for (const { name, property } of chosen) {
    if (broken.has(name) || Date.now() >= until) continue;
    const found = fc.check(property, { seed: (Date.now() ^ (round << 16)) | 0, numRuns: CASES });
    cases += found.numRuns;
    if (!found.failed) continue;
    broken.add(name);
    console.log(`BROKEN: ${name}\n${fc.defaultReportMessage(found) ?? ''}\n`);
  }
}
console.log(`${cases} cases of ${chosen.length} promises, ${broken.size} broken`);
process.exitCode = broken.size === 0 ? 0 : 1;
