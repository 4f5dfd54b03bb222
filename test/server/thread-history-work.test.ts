import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundHistoryWork, type HistoryWork } from '../../src/history/large-work.ts';
import { remoteHistoryWork, ThreadWork } from '../../src/server/threads/remote-history-work.ts';
import type { ServerService, ThreadHearing } from '../../src/server/threads/thread-contract.ts';
import { errorForms } from '../../src/storage/error-forms.ts';
import { PortCalls } from '../../src/util/port-calls.ts';
import { PATIENCE } from '../kit/patience.ts';

type Asked = Pick<ServerService, 'enterWork' | 'leaveWork'>;

/** A serving thread whose places are those of `work`. */
function threadOf(work: HistoryWork) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const host = new ThreadWork(work);
  const common = {
    errors: errorForms,
    onError: (error: unknown): never => {
      throw error;
    },
  };
  new PortCalls<Asked, Record<never, never>>({
    port: port1,
    answers: {
      enterWork: (kind, caller) => host.enter(kind, caller),
      leaveWork: (place) => host.leave(place),
    },
    ...common,
  });
  const calls = new PortCalls<ThreadHearing, ServerService>({
    ...{ port: port2, answers: {} as ThreadHearing, ...common },
  });
  return { work: remoteHistoryWork(calls), host };
}

const CALLER = { aborted: false };

test('large work of all threads has the same places, and a thread that is gone leaves its own', async () => {
  const server = boundHistoryWork();
  const one = threadOf(server);
  const other = threadOf(server);
  const leave = await one.work.reads.enter(CALLER);
  await one.work.reads.enter(CALLER);
  const entered: string[] = [];
  const wait = (name: string): Promise<unknown> =>
    other.work.reads.enter(CALLER).then(() => entered.push(name));
  const waiting = Array.from({ length: 8 }, (_, at) => wait(`${at}`));
  await expect(other.work.reads.enter(CALLER)).rejects.toMatchObject({
    status: { code: 429, details: { retryAfterSeconds: 5 } },
  });
  // Work of another kind has places of its own.
  await other.work.restores.enter(CALLER);
  expect(entered).toEqual([]);
  leave();
  await vi.waitFor(() => expect(entered).toEqual(['0']), PATIENCE);
  one.host.end();
  await vi.waitFor(() => expect(entered).toEqual(['0', '1']), PATIENCE);
  other.host.end();
  await Promise.all(waiting);
});
