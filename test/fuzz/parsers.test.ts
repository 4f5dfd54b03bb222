import fc from 'fast-check';
import { test } from 'vitest';
import { cases } from '../kit/cases.ts';
import { PROMISES } from './parsers.ts';

/** The same cases each time; `npm run fuzz -- --minutes=N` tries others. */
const SEED = 20_240_601;
const CASES = cases(300);

test.each(PROMISES)('$name', ({ property }) => {
  fc.assert(property, { seed: SEED, numRuns: CASES });
});
