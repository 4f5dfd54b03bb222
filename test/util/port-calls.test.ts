import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StatusError } from '../../src/api/status.ts';
import { errorForms } from '../../src/storage/error-forms.ts';
import { StorageError } from '../../src/storage/errors.ts';
import { type PortCaller, PortCalls } from '../../src/util/port-calls.ts';
import { PATIENCE } from '../kit/patience.ts';

interface Answers {
  echo(value: unknown): unknown;
  fail(kind: 'storage' | 'status' | 'other'): Promise<never>;
  wait(argument: undefined, caller: PortCaller): Promise<string>;
  hear(value: number): void;
}

type Nothing = Record<never, never>;

/** Both ends of a port in one thread. */
function connect() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const heard: number[] = [];
  const answers: Answers = {
    echo: (value) => value,
    fail: async (kind) => {
      if (kind === 'storage') throw new StorageError({ kind: 'unknown', reason: 'lost' });
      if (kind === 'status') throw new StatusError({ code: 409, reason: 'Conflict', message: 'changed' });
      throw new TypeError('wrong');
    },
    wait: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('abandoned'), { once: true })),
    hear: (value) => void heard.push(value),
  };
  const onError = (error: unknown): never => {
    throw error;
  };
  new PortCalls<Answers, Nothing>({ port: port1, answers, errors: errorForms, onError });
  const sent = vi.spyOn(port2, 'postMessage');
  const calls = new PortCalls<Nothing, Answers>({
    ...{ port: port2 as MessagePort, answers: {}, errors: errorForms, onError },
  });
  return { calls, heard, sent };
}

test('values cross whole: numbers of any size, dates, absent fields, and bytes that are a part of larger memory', async () => {
  const { calls } = connect();
  const memory = Buffer.from('before bytes after');
  const at = new Date(1234);
  const value = { revision: 2n ** 60n, at, none: undefined, list: [{ bytes: memory.subarray(7, 12) }] };
  const echoed = (await calls.call('echo', value)) as typeof value;
  expect(echoed).toEqual(value);
  const [first] = echoed.list;
  expect(Buffer.isBuffer(first?.bytes)).toBe(true);
  expect(first?.bytes.buffer.byteLength).toBe(5);
});

test('bytes in shared memory are not copied', async () => {
  const { calls } = connect();
  const memory = Buffer.from(new SharedArrayBuffer(16));
  const echoed = (await calls.call('echo', { bytes: memory.subarray(4, 8) })) as { bytes: Buffer };
  memory.fill('x');
  expect(echoed.bytes.toString()).toBe('xxxx');
});

test('errors keep their kinds', async () => {
  const { calls } = connect();
  await expect(calls.call('fail', 'storage')).rejects.toMatchObject({
    failure: { kind: 'unknown', reason: 'lost' },
  });
  await expect(calls.call('fail', 'status')).rejects.toMatchObject({
    status: { code: 409, message: 'changed' },
  });
  await expect(calls.call('fail', 'other')).rejects.toThrow('wrong');
});

test('what one round of the event loop sends leaves as one message, and arrives in order', async () => {
  const { calls, heard, sent } = connect();
  calls.tell('hear', 1);
  const echo = calls.call('echo', 'between');
  calls.tell('hear', 2);
  expect(await echo).toBe('between');
  expect(heard).toEqual([1, 2]);
  expect(sent).toHaveBeenCalledTimes(1);
});

test('a message without haste leaves with the next one, or by itself soon', async () => {
  const { calls, heard, sent } = connect();
  calls.tellLater('hear', 1);
  await calls.call('echo', 'next');
  expect(heard).toEqual([1]);
  expect(sent).toHaveBeenCalledTimes(1);
  calls.tellLater('hear', 2);
  await vi.waitFor(() => expect(heard).toEqual([1, 2]), PATIENCE);
});

test('a method hears when its caller no longer waits', async () => {
  const { calls } = connect();
  const caller = { aborted: false };
  const waiting = calls.call('wait', undefined, caller);
  caller.aborted = true;
  expect(await waiting).toBe('abandoned');
});

test('when the other thread is gone, calls fail, later ones too', async () => {
  const { calls } = connect();
  const waiting = calls.call('wait', undefined);
  calls.end(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(calls.call('echo', 1)).rejects.toThrow('gone');
});
