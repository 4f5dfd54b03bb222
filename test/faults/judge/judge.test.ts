import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import {
  absent,
  bookmark,
  emptyRecord,
  event,
  found,
  listed,
  notSent,
  operation,
  promotion,
  refused,
  row,
  rowsOf,
  session,
  unknown,
  written,
} from './kit.ts';
import type { Record } from './record.ts';

const rulesOf = (record: Partial<Record>): string[] => [
  ...new Set(judge(withFinalList({ ...emptyRecord, ...record })).map(({ rule }) => rule)),
];

/** What the log says in the end, unless the record says something else. */
function withFinalList(record: Record): Record {
  const last = record.log.at(-1);
  if (record.finalLists.length > 0 || last === undefined) return record;
  const items = last.verb === 'delete' ? [] : [last];
  return { ...record, finalLists: [{ server: 0, items }] };
}

const HISTORY = rowsOf([2, 'a'], [5, 'b'], [9, 'c']);
const EPOCH = { after: 100n, beganAtMs: 0, reason: 'a promotion' };

const kept: readonly (readonly [string, Partial<Record>])[] = [
  ['nothing at all', {}],
  [
    'writes one after the other, and what was read of them',
    {
      log: HISTORY,
      operations: [
        operation('a', 'create', [0, 10], written(2)),
        operation('r1', 'get', [11, 12], found(2, 'a')),
        operation('b', 'update', [20, 30], written(5), 2),
        operation('r2', 'list', [31, 32], listed(7, 5, 'b')),
        operation('c', 'patch', [40, 50], written(9)),
      ],
    },
  ],
  [
    'a write of unknown outcome that happened, and one that did not',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      operations: [
        operation('a', 'create', [0, 10], written(2)),
        operation('b', 'update', [20, 30], unknown, 2),
        operation('c', 'update', [20, 30], unknown, 2),
        operation('r1', 'get', [40, 41], found(2, 'a')),
        operation('r2', 'get', [50, 51], found(5, 'b')),
      ],
    },
  ],
  [
    'reads beside a write see what was before it or after',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      operations: [
        operation('a', 'create', [0, 10], written(2)),
        operation('b', 'update', [20, 60], written(5), 2),
        operation('r1', 'get', [30, 31], found(2, 'a')),
        operation('r2', 'get', [40, 41], found(5, 'b')),
        operation('r3', 'get', [30, 45], found(2, 'a')),
      ],
    },
  ],
  [
    'an object that goes and comes again',
    {
      log: [row(2, 'a', 'create'), row(3, 'd', 'delete', 2), row(4, 'e', 'create')],
      operations: [
        operation('a', 'create', [0, 10], written(2)),
        operation('d', 'delete', [20, 30], written(), 2),
        operation('r', 'get', [31, 32], absent),
        operation('e', 'create', [40, 50], written(4)),
      ],
    },
  ],
  [
    'a promotion that loses what was acknowledged where it may',
    {
      log: rowsOf([2, 'a'], [105, 'b']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100)],
      operations: [
        operation('a', 'create', [0, 10], written(2)),
        operation('lost', 'update', [20, 30], written(5), 2),
        operation('r1', 'get', [31, 32], found(5, 'lost')),
        operation('r2', 'get', [70, 71], found(2, 'a')),
        operation('b', 'update', [80, 90], written(105), 2),
      ],
      watches: [
        session(2, [event('modified', 5, 'lost')], 'gone'),
        session(100, [event('modified', 105, 'b')]),
      ],
    },
  ],
  [
    'a watch that is resumed from its last event and its bookmark',
    {
      log: HISTORY,
      watches: [
        session(0, [event('added', 2, 'a'), event('modified', 5, 'b')], 'failed'),
        session(5, [bookmark(5), bookmark(8), event('modified', 9, 'c')]),
      ],
      watchersMustReach: 9n,
    },
  ],
  [
    'an old primary that is read, and that orders its writes, until servers have noticed the new one',
    {
      log: rowsOf([2, 'a'], [105, 'b']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100)],
      splits: [[50, 60]],
      operations: [
        operation('a', 'create', [0, 10], written(2)),
        operation('b', 'update', [51, 53], written(105), 2),
        operation('late', 'update', [54, 56], written(5), 2),
        operation('r1', 'get', [55, 57], found(2, 'a')),
        operation('r2', 'get', [57, 62], found(5, 'late')),
        operation('r3', 'get', [63, 64], found(105, 'b')),
      ],
    },
  ],
  [
    'a 410 to who asks for what was compacted',
    { log: HISTORY, compacted: 5n, watches: [session(4, [], 'gone')] },
  ],
];

test.each(kept)('%s breaks no promise', (_, record) => {
  expect(rulesOf(record)).toEqual([]);
});

const broken: readonly (readonly [string, string, Partial<Record>])[] = [
  [
    'reads are linearizable',
    'an old primary that is read after servers must have noticed',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      splits: [[0, 30]],
      operations: [
        operation('b', 'update', [20, 30], written(5), 2),
        operation('r', 'get', [31, 32], found(2, 'a')),
      ],
    },
  ],
  [
    'revisions rise with the order of commits',
    'a later write with a lower number, when there is one primary again',
    {
      log: [row(2, 'late', 'create'), { ...row(3, 'early', 'create'), key: 'other' }],
      splits: [[0, 10]],
      operations: [
        { ...operation('early', 'create', [11, 12], written(3)), key: 'other' },
        operation('late', 'create', [13, 20], written(2)),
      ],
      finalLists: [
        {
          server: 0,
          items: [
            { key: 'k', revision: 2n, op: '' },
            { key: 'other', revision: 3n, op: '' },
          ],
        },
      ],
    },
  ],
  [
    'a revision is one write',
    'a number that both of two primaries gave out',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      splits: [[0, 90]],
      operations: [operation('r', 'get', [20, 30], found(5, 'lost'))],
    },
  ],
  [
    'what was acknowledged is not lost',
    'a write that two primaries, neither of which may lose one, have lost',
    {
      log: rowsOf([2, 'a']),
      splits: [[0, 90]],
      operations: [operation('b', 'update', [20, 30], written(5), 2)],
    },
  ],
  [
    'what was acknowledged is not lost',
    'a write that is nowhere',
    { log: rowsOf([2, 'a']), operations: [operation('b', 'update', [0, 1], written(5))] },
  ],
  [
    'what was acknowledged is not lost',
    'a write that a promotion lost which had everything',
    {
      log: rowsOf([2, 'a']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100, false)],
      operations: [operation('b', 'update', [20, 30], written(5), 2)],
    },
  ],
  [
    'what was acknowledged is not lost',
    'a write after the promotion that lost others',
    {
      log: rowsOf([2, 'a']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100)],
      operations: [operation('b', 'update', [70, 80], written(105), 2)],
    },
  ],
  [
    'what was shown is not lost',
    'a write that was not acknowledged, and that a watch showed',
    {
      log: rowsOf([2, 'a']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100, false)],
      operations: [operation('b', 'update', [20, 30], unknown, 2)],
      watches: [session(2, [event('modified', 5, 'b')], 'gone')],
    },
  ],
  [
    'what was refused has not happened',
    'a write for which there was no connection, and which is there',
    { log: rowsOf([2, 'a']), operations: [operation('a', 'create', [0, 9], notSent)] },
  ],
  [
    'a write happens once',
    'a create that was repeated after its answer was lost',
    {
      log: [row(2, 'a', 'create'), row(3, 'd', 'delete', 2), row(4, 'a', 'create')],
      operations: [operation('a', 'create', [0, 9], unknown)],
    },
  ],
  [
    'what was refused has not happened',
    'a write that was answered with Retry-After and is there',
    { log: rowsOf([2, 'a']), operations: [operation('a', 'create', [0, 9], refused)] },
  ],
  [
    'a write is acknowledged with its revision',
    'another number than that in the log',
    { log: rowsOf([2, 'a']), operations: [operation('a', 'create', [0, 9], written(3))] },
  ],
  [
    'a revision is one write',
    'a number that was lost and given out again',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      operations: [operation('r', 'get', [20, 30], found(5, 'lost'))],
    },
  ],
  [
    'a revision is one write',
    'a watch that says of a number what another said differently',
    {
      promotions: [promotion([50, 60], 4, 100)],
      watches: [
        session(4, [event('modified', 5, 'x')], 'gone'),
        session(4, [event('modified', 5, 'y')], 'gone'),
      ],
    },
  ],
  [
    'revisions rise with the order of commits',
    'a later write with a lower number',
    {
      log: [row(2, 'late', 'create'), { ...row(3, 'early', 'create'), key: 'other' }],
      operations: [
        { ...operation('early', 'create', [0, 10], written(3)), key: 'other' },
        operation('late', 'create', [11, 20], written(2)),
      ],
      finalLists: [
        {
          server: 0,
          items: [
            { key: 'k', revision: 2n, op: '' },
            { key: 'other', revision: 3n, op: '' },
          ],
        },
      ],
    },
  ],
  [
    'a row goes on from the one before',
    'two writes over the same state',
    { log: [row(2, 'a', 'create'), row(3, 'b', 'update', 2), row(4, 'c', 'update', 2)] },
  ],
  [
    'a guarded write replaces what it was guarded with',
    'a guard that was not heeded',
    {
      log: rowsOf([2, 'a'], [3, 'b'], [4, 'c']),
      operations: [operation('c', 'update', [0, 9], written(4), 2)],
    },
  ],
  [
    'time in the log never runs backwards',
    'a row from before the one before it',
    { log: [row(2, 'a', 'create'), { ...row(3, 'b', 'update', 2), committedAtMs: 1 }] },
  ],
  [
    'reads are linearizable',
    'a read of what had been replaced before',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      operations: [
        operation('b', 'update', [20, 30], written(5), 2),
        operation('r', 'get', [31, 32], found(2, 'a')),
      ],
    },
  ],
  [
    'reads are linearizable',
    'a read that goes back behind another',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      operations: [
        operation('b', 'update', [20, 90], unknown, 2),
        operation('r1', 'get', [31, 32], found(5, 'b')),
        operation('r2', 'get', [33, 34], found(2, 'a')),
      ],
    },
  ],
  [
    'reads are linearizable',
    'an object that is not found, though it is there',
    {
      log: rowsOf([2, 'a']),
      operations: [operation('a', 'create', [0, 10], written(2)), operation('r', 'get', [11, 12], absent)],
    },
  ],
  [
    'reads are linearizable',
    'a read of a later write',
    {
      log: rowsOf([2, 'a']),
      operations: [
        operation('r', 'get', [0, 5], found(2, 'a')),
        operation('a', 'create', [8, 10], written(2)),
      ],
    },
  ],
  [
    'reads are linearizable',
    'lost state that is shown after the promotion',
    {
      log: rowsOf([2, 'a']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100)],
      operations: [
        operation('lost', 'update', [20, 30], written(5), 2),
        operation('r', 'get', [61, 62], found(5, 'lost')),
      ],
    },
  ],
  [
    'reads are linearizable',
    'a list that is behind what was acknowledged',
    {
      log: rowsOf([2, 'a'], [5, 'b']),
      operations: [
        operation('b', 'update', [20, 30], written(5), 2),
        operation('r', 'list', [31, 32], listed(4, 2, 'a')),
      ],
    },
  ],
  [
    'a list is the state at its revision',
    'a list that has left out what its number has',
    { log: rowsOf([2, 'a'], [5, 'b']), operations: [operation('r', 'list', [0, 9], listed(6, 2, 'a'))] },
  ],
  [
    'a watch leaves nothing out',
    'an event between two others',
    { log: HISTORY, watches: [session(0, [event('added', 2, 'a'), event('modified', 9, 'c')])] },
  ],
  [
    'a watch leaves nothing out',
    'a bookmark beyond what was sent',
    { log: HISTORY, watches: [session(2, [bookmark(6)])] },
  ],
  [
    'a watch leaves nothing out',
    'a lost write that another client saw',
    {
      log: rowsOf([2, 'a']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100)],
      operations: [
        operation('x', 'update', [20, 30], written(5), 2),
        operation('y', 'update', [31, 40], written(6), 5),
      ],
      watches: [session(2, [event('modified', 6, 'y')], 'gone')],
    },
  ],
  [
    'events come once, in order',
    'an event that comes twice',
    { log: rowsOf([2, 'a']), watches: [session(0, [event('added', 2, 'a'), event('added', 2, 'a')])] },
  ],
  [
    'events come once, in order',
    'an event from before the start',
    { log: rowsOf([2, 'a']), watches: [session(2, [event('added', 2, 'a')])] },
  ],
  [
    'an event is a row of the log',
    'an event of nothing',
    { log: rowsOf([2, 'a']), watches: [session(2, [event('modified', 3, 'x')])] },
  ],
  [
    'an event is a row of the log',
    'an update that is shown as an addition',
    { log: HISTORY, watches: [session(2, [event('added', 5, 'b')])] },
  ],
  [
    'a watch ends with its history',
    'a watch that goes on from a lost revision',
    {
      log: rowsOf([2, 'a'], [105, 'b']),
      epochs: [EPOCH],
      promotions: [promotion([50, 60], 4, 100)],
      watches: [session(5, [event('modified', 105, 'b')])],
    },
  ],
  [
    '410 has a reason',
    'a 410 where history is all there',
    { log: HISTORY, watches: [session(2, [], 'gone')] },
  ],
  [
    'a watch goes on',
    'a watch that hears nothing any more',
    { log: HISTORY, watches: [session(0, [event('added', 2, 'a')])], watchersMustReach: 9n },
  ],
  [
    'every server shows what the log says',
    'a server that has missed a write',
    { log: HISTORY, finalLists: [{ server: 1, items: [{ key: 'k', revision: 5n, op: 'b' }] }] },
  ],
];

test.each(broken)('%s: %s is found, and nothing else', (rule, _, record) => {
  expect(rulesOf(record)).toEqual([rule]);
});
