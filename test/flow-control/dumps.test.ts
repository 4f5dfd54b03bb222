import { expect, test } from 'vitest';
import { dumpLevels, dumpQueues, dumpRequests } from '../../src/flow-control/dumps.ts';
import { PriorityAndFairness } from '../../src/flow-control/priority-and-fairness.ts';
import { freshSchemas, ownCounters, TurnedClock, toRequest } from './kit.ts';
import { NO_METRICS } from './no-metrics.ts';

function create() {
  const clock = new TurnedClock();
  const engine = new PriorityAndFairness({
    serverSeats: 1,
    requestTimeoutMs: 60_000,
    countObjects: () => 0,
    watchList: true,
    counters: ownCounters(),
    clock,
    metrics: NO_METRICS,
  });
  const queuing = { queues: 2, handSize: 1, queueLengthLimit: 10 };
  const level = { exempt: false, shares: 30, lendablePercent: 0, borrowingLimitPercent: undefined, uid: '' };
  engine.configure(freshSchemas(), [{ ...level, name: 'global-default', queuing }]);
  clock.advance(1500);
  for (const user of ['alice', 'bob\nsystem:admin'])
    engine.begin(toRequest({ user, verb: 'get' }, { name: 'it' }));
  engine.begin(toRequest({ user: 'root', groups: ['system:masters'], path: '/version' }));
  return { clock, engine };
}

test('the levels are shown as Kubernetes shows them', () => {
  expect(dumpLevels(create().engine.levels)).toBe(
    [
      'PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests',
      'catch-all,         0,            true,   false,       0,               0,                 0,                  0,                0,                0',
      'exempt,            0,            false,  false,       0,               1,                 1,                  0,                0,                0',
      'global-default,    1,            false,  false,       1,               1,                 1,                  0,                0,                0',
      '',
    ].join('\n'),
  );
});

test('the queues are shown with what waits in them', () => {
  const lines = dumpQueues(create().engine.levels).split('\n');
  expect(lines[0]).toBe(
    'PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, InitialSeatsSum, MaxSeatsSum, TotalWorkSum',
  );
  const cells = lines.slice(1, 3).map((line) => line.split(/,\s*/));
  expect(cells.map(([level, index]) => `${level} ${index}`)).toEqual([
    'global-default 0',
    'global-default 1',
  ]);
  expect(cells.map(([, , pending]) => Number(pending)).reduce((sum, count) => sum + count)).toBe(1);
  expect(cells.map((row) => row[8]).sort()).toEqual(['0.00000000ss', '0.00300000ss']);
});

test('the requests are shown, with details on demand, and a name cannot pretend to be a row', () => {
  const { engine, clock } = create();
  const plain = dumpRequests(engine.levels, { clock, details: false });
  expect(plain.split('\n')[0]?.replaceAll(/\s+/g, '')).toBe(
    'PriorityLevelName,FlowSchemaName,QueueIndex,RequestIndexInQueue,FlowDistingsher,ArriveTime,InitialSeats,FinalSeats,AdditionalLatency,StartTime',
  );
  const rows = dumpRequests(engine.levels, { clock, details: true })
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/,\s*/));
  expect(rows).toHaveLength(3);
  const byUser = new Map(rows.map((row) => [row[10], row]));
  expect(byUser.get('root')?.slice(0, 4)).toEqual(['exempt', 'exempt', '-1', '-1']);
  expect(byUser.get('alice')?.slice(3)).toEqual([
    ...['-1', 'alice', '2024-01-01T00:00:01.500Z', '1', '0', '0s', '2024-01-01T00:00:01.500Z', 'alice'],
    ...['get', '/api/v1/namespaces/default/configmaps', 'default', 'it', 'v1', 'configmaps', ''],
  ]);
  expect(byUser.get('bob?system:admin')?.[9]).toBe('0001-01-01T00:00:00Z');
});
