import { expect, test } from 'vitest';
import type { ProbeReading } from '../../kit/event-loop-probe.ts';
import { CERTIFICATES } from './certificates.ts';
import { CUSTOM_RESOURCES } from './custom-resources.ts';
import { describeHarmless } from './harmless.ts';
import { LONG_LISTS } from './long-lists.ts';
import { PAST } from './past.ts';
import { PATCHES } from './patches.ts';
import { QUERIES } from './queries.ts';

const [SPENT_MS, SPENT_BYTES] = [150, 100 * 1024 * 1024];

const server = describeHarmless({
  'long lists': LONG_LISTS,
  'custom resources': CUSTOM_RESOURCES,
  patches: PATCHES,
  'the past': PAST,
  'queries and headers': QUERIES,
  'requests for certificates': CERTIFICATES,
});

test('the probe sees a thread that is blocked, and memory that is needed', async () => {
  const cluster = server();
  await cluster.ask('begin');
  await cluster.ask('spend');
  const { longestMs, grownBytes } = (await cluster.ask('end')) as ProbeReading;
  expect(longestMs).toBeGreaterThanOrEqual(SPENT_MS);
  expect(grownBytes).toBeGreaterThanOrEqual(0.9 * SPENT_BYTES);
  await cluster.ask('begin-quickly');
  await cluster.ask('spend');
  expect(await cluster.ask('end'), 'what was garbage before may hide growth').toMatchObject({
    isSure: false,
  });
});
