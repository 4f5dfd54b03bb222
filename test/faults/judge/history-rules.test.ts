import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import {
  answered,
  blamed,
  emptyRecord,
  event,
  historyRow,
  operation,
  past,
  promotion,
  row,
  rowsOf,
  session,
  written,
} from './kit.ts';
import type { Record } from './record.ts';

const rulesOf = (record: Partial<Record>): string[] => [
  ...new Set(judge({ ...emptyRecord, ...record }).map(({ rule }) => rule)),
];

const HISTORY = [...rowsOf([2, 'a'], [5, 'b'], [9, 'c']), row(12, 'd', 'delete', 9)];
const OPERATIONS = [
  operation('a', 'create', [0, 10], written(2)),
  operation('b', 'update', [20, 30], written(5), 2),
  operation('c', 'patch', [40, 50], written(9)),
  operation('d', 'delete', [52, 54], written()),
];
const LOG = { log: HISTORY, operations: OPERATIONS };
const NEWEST_FIRST = HISTORY.map(historyRow).reverse();
const without = (revision: bigint) => NEWEST_FIRST.filter((one) => one.revision !== revision);
const EPOCH = { after: 100n, beganAtMs: 55, reason: 'a promotion' };
const FAR = 10_000;

/** As `OPERATIONS`, with more time between them than clocks differ. */
const SLOW = OPERATIONS.map((one) => ({
  ...one,
  invokedMs: one.invokedMs * 100,
  completedMs: one.completedMs * 100,
}));

const listed = (revision: bigint, ...items: readonly (readonly [bigint, string])[]) =>
  ({
    kind: 'listed',
    revision,
    items: items.map(([at, op]) => ({ key: 'k', revision: at, op })),
  }) as const;

const kept: readonly (readonly [string, Partial<Record>])[] = [
  ['all of history', { ...LOG, answers: [answered(12, NEWEST_FIRST)] }],
  ['the first pages of it', { ...LOG, answers: [answered(12, NEWEST_FIRST.slice(0, 2), { end: 'failed' })] }],
  [
    'a timeline',
    { ...LOG, answers: [answered(12, HISTORY.map(historyRow), { what: 'timeline', filter: { key: 'k' } })] },
  ],
  [
    'the updates alone, and a watch of them',
    {
      ...LOG,
      answers: [answered(12, [...without(12n)].slice(0, 2), { filter: { verb: 'update' } })],
      watches: [
        session(0, [event('modified', 5, 'b'), event('modified', 9, 'c')], 'stopped', { verb: 'update' }),
      ],
    },
  ],
  ['what compaction has left', { ...LOG, compacted: 5n, answers: [answered(12, NEWEST_FIRST.slice(0, 2))] }],
  [
    'a 410 where compaction has been',
    { ...LOG, compacted: 9n, answers: [answered(12, NEWEST_FIRST.slice(0, 2), { end: 'gone' })] },
  ],
  [
    'rows that a promotion has lost',
    {
      log: HISTORY.slice(0, 2),
      operations: OPERATIONS.slice(0, 2),
      epochs: [{ ...EPOCH, beganAtMs: 80 }],
      promotions: [promotion([71, 75], 5, 100)],
      answers: [answered(9, NEWEST_FIRST.slice(1))],
    },
  ],
  [
    'states as of revisions and of moments',
    {
      ...{ ...LOG, operations: SLOW },
      pasts: [
        past({ revision: 7n }, listed(7n, [5n, 'b']), [FAR, FAR]),
        past({ revision: 12n }, listed(12n), [FAR, FAR]),
        past({ atMs: 3500 }, listed(5n, [5n, 'b']), [FAR, FAR]),
        // Either may be: the write was made about then.
        past({ atMs: 2500 }, listed(2n, [2n, 'a']), [FAR, FAR]),
        past({ atMs: 2500 }, listed(5n, [5n, 'b']), [FAR, FAR]),
      ],
    },
  ],
  ['who set a field', { ...LOG, blames: [blamed(5, 'b', 5)] }],
  ['no author, where history does not reach', { ...LOG, compacted: 5n, blames: [blamed(5, 'b')] }],
];

const broken: readonly (readonly [rule: string, name: string, record: Partial<Record>])[] = [
  ['history leaves nothing out', 'a list with a hole', { ...LOG, answers: [answered(12, without(5n))] }],
  [
    'history leaves nothing out',
    'a list that ends early',
    { ...LOG, answers: [answered(12, NEWEST_FIRST.slice(0, 2))] },
  ],
  [
    'history leaves nothing out',
    'a list that begins late',
    { ...LOG, answers: [answered(12, NEWEST_FIRST.slice(1))] },
  ],
  [
    'history leaves nothing out',
    'a list that ends one row before the begin of history',
    { ...LOG, compacted: 1n, answers: [answered(12, without(2n))] },
  ],
  ['history leaves nothing out', 'an empty list', { ...LOG, answers: [answered(12, [])] }],
  [
    'history leaves nothing out',
    'a hole in the first pages of a timeline',
    {
      ...LOG,
      answers: [
        answered(12, HISTORY.filter(({ op }) => op !== 'b').map(historyRow), {
          ...{ what: 'timeline', end: 'failed', filter: { key: 'k' } },
        }),
      ],
    },
  ],
  [
    'history leaves nothing out',
    'a list that another history has cut short',
    {
      ...LOG,
      epochs: [EPOCH],
      promotions: [promotion([61, 65], 12, 100)],
      answers: [answered(12, NEWEST_FIRST.slice(0, 1))],
    },
  ],
  [
    'history is listed once, in order',
    'a row that is listed twice',
    { ...LOG, answers: [answered(12, [...NEWEST_FIRST.slice(0, 2), ...NEWEST_FIRST.slice(1)])] },
  ],
  [
    'history tells what was written',
    'a row that never was',
    {
      ...LOG,
      answers: [
        answered(12, [...NEWEST_FIRST.slice(0, 1), historyRow(row(10, 'x')), ...NEWEST_FIRST.slice(1)]),
      ],
    },
  ],
  [
    'history tells what was written',
    'another user',
    {
      ...LOG,
      answers: [
        answered(
          12,
          NEWEST_FIRST.map((one) => (one.revision === 5n ? { ...one, user: 'eve' } : one)),
        ),
      ],
    },
  ],
  [
    'history tells what was written',
    'a chain that is broken',
    {
      ...LOG,
      answers: [
        answered(
          12,
          NEWEST_FIRST.map((one) => (one.revision === 9n ? { ...one, previous: 2n } : one)),
        ),
      ],
    },
  ],
  [
    'history tells what was asked for',
    'a create among updates',
    { ...LOG, answers: [answered(12, without(12n), { filter: { verb: 'update' } })] },
  ],
  [
    'history is as new as what was acknowledged',
    'a list of a while ago',
    { ...LOG, answers: [answered(5, NEWEST_FIRST.slice(2))] },
  ],
  [
    '410 has a reason',
    'a list that ends though history goes on',
    { ...LOG, answers: [answered(12, NEWEST_FIRST, { end: 'gone' })] },
  ],
  [
    '410 has a reason',
    'a past that is refused',
    { ...LOG, pasts: [past({ revision: 5n }, { kind: 'gone' })] },
  ],
  [
    'the past is shown as it was',
    'a state of another time',
    { ...LOG, pasts: [past({ revision: 7n }, listed(7n, [2n, 'a']))] },
  ],
  [
    'the past is shown as it was',
    'a state of another revision than was asked for',
    { ...LOG, pasts: [past({ revision: 7n }, listed(9n, [9n, 'c']))] },
  ],
  [
    'a moment is shown as it was',
    'a moment without what was acknowledged',
    { ...LOG, operations: SLOW, pasts: [past({ atMs: 3500 }, listed(2n, [2n, 'a']), [FAR, FAR])] },
  ],
  [
    'a moment is shown as it was',
    'a moment with what came later',
    { ...LOG, operations: SLOW, pasts: [past({ atMs: 3500 }, listed(9n, [9n, 'c']), [FAR, FAR])] },
  ],
  ['a blame names who did it', 'another revision', { ...LOG, blames: [blamed(5, 'b', 2)] }],
  ['a blame names who did it', 'another user', { ...LOG, blames: [blamed(5, 'b', 5, 'eve')] }],
  ['a blame names who did it', 'no author', { ...LOG, blames: [blamed(5, 'b')] }],
  [
    'a watch shows what it asked for',
    'a create among updates',
    { ...LOG, watches: [session(0, [event('added', 2, 'a')], 'stopped', { verb: 'update' })] },
  ],
  [
    'a watch leaves nothing out',
    'an update that is missing in a watch of updates',
    { ...LOG, watches: [session(0, [event('modified', 9, 'c')], 'stopped', { verb: 'update' })] },
  ],
];

test.each(kept)('%s keeps the promises', (_, record) => {
  expect(judge({ ...emptyRecord, ...record })).toEqual([]);
});

test.each(broken)('%s: %s is found, and nothing else', (rule, _, record) => {
  expect(rulesOf(record)).toEqual([rule]);
});
