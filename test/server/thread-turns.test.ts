import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type FlowRequest, MaxInFlight } from '../../src/flow-control/flow-control.ts';
import { SeatCounters } from '../../src/flow-control/queueing/seats.ts';
import { RemoteFlowControl, ThreadTurns } from '../../src/server/threads/remote-flow-control.ts';
import type { ServerService, ThreadHearing } from '../../src/server/threads/thread-contract.ts';
import { errorForms } from '../../src/storage/error-forms.ts';
import { PortCalls } from '../../src/util/port-calls.ts';
import { PATIENCE } from '../kit/patience.ts';

type Asked = Pick<ServerService, 'beginTurn' | 'turnInitialized' | 'turnEnded'>;

/** The flow control of a serving thread, whose turns are those of `limits`. */
function threadOf(limits: MaxInFlight) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const turns = new ThreadTurns(limits);
  const answers: Asked = {
    beginTurn: (asked, caller) => turns.begin(asked, caller),
    turnInitialized: (turn) => turns.initialized(turn),
    turnEnded: (turn) => turns.ended(turn),
  };
  const common = {
    errors: errorForms,
    onError: (error: unknown): never => {
      throw error;
    },
  };
  new PortCalls<Asked, Record<never, never>>({ port: port1, answers, ...common });
  const calls = new PortCalls<ThreadHearing, ServerService>({
    ...{ port: port2, answers: {} as ThreadHearing, ...common },
  });
  return { flowControl: new RemoteFlowControl(calls), turns };
}

const REQUEST: FlowRequest = {
  user: { username: 'alice', uid: '', groups: [], extra: {} },
  verb: 'get',
  path: '/api/v1/nodes/n',
  target: undefined,
  query: new URLSearchParams(),
  signal: new AbortController().signal,
};

test('the seats of all threads are one pool, and those of a thread that is gone are free', async () => {
  const limits = new MaxInFlight({ reading: 2, mutating: 1 }, new SeatCounters(SeatCounters.allocate(0), 0));
  const one = threadOf(limits);
  const other = threadOf(limits);
  const first = await one.flowControl.begin(REQUEST);
  expect(first).toMatchObject({ admitted: true });
  expect(await one.flowControl.begin(REQUEST)).toMatchObject({ admitted: true });
  expect(await other.flowControl.begin(REQUEST)).toMatchObject({ admitted: false, retryAfterSeconds: 1 });
  if (first?.admitted) first.end();
  // The end of a turn reaches the main thread a little later.
  await vi.waitFor(
    async () => expect(await other.flowControl.begin(REQUEST)).toMatchObject({ admitted: true }),
    PATIENCE,
  );
  expect(await other.flowControl.begin(REQUEST)).toMatchObject({ admitted: false });
  one.turns.end();
  expect(await other.flowControl.begin(REQUEST)).toMatchObject({ admitted: true });
});
