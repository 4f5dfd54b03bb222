import { beforeEach, expect, test, vi } from 'vitest';
import type { FlowControl, Turn } from '../../src/flow-control/flow-control.ts';
import { takeTurn } from '../../src/pipeline/flow-control.ts';
import type { AuthenticatedRequest } from '../../src/request/api-request.ts';
import type { ApiResponse, ResponseSink } from '../../src/request/api-response.ts';

let headers: Record<string, string> = {};
const request = {
  addHeader: (name: string, value: string) => {
    headers[name] = value;
  },
} as AuthenticatedRequest;

beforeEach(() => {
  headers = {};
});

const classification = { schemaUid: 's', levelUid: 'l' };
const HEADERS = { 'x-kubernetes-pf-flowschema-uid': 's', 'x-kubernetes-pf-prioritylevel-uid': 'l' };
const ok: ApiResponse = { kind: 'bytes', code: 200, contentType: 'a/b', chunks: [], compressible: false };

/** Keeps a diary of what happened to the turn it gives. */
function control(): { flowControl: FlowControl; diary: string[] } {
  const diary: string[] = [];
  const turn: Turn = {
    admitted: true,
    classification,
    initialized: () => diary.push('initialized'),
    end: () => diary.push('end'),
  };
  return { flowControl: { begin: () => turn }, diary };
}

test('an answer carries its classification, and the turn has ended before it is sent', async () => {
  const { flowControl, diary } = control();
  const response = await takeTurn({ flowControl }, request, async () => ({ ...ok, headers: { a: 'b' } }));
  expect(response).toMatchObject({ code: 200, headers: { a: 'b' } });
  expect(headers).toEqual(HEADERS);
  expect(diary).toEqual(['end']);
});

test('a turn ends when the rest of the way throws', async () => {
  const { flowControl, diary } = control();
  await expect(takeTurn({ flowControl }, request, () => Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
  expect(diary).toEqual(['end']);
});

test('a stream frees its seats after its initial events, and ends its turn when it ends', async () => {
  const { flowControl, diary } = control();
  const sink: ResponseSink = { open: () => {}, write: () => true, drained: async () => {} };
  const response = await takeTurn({ flowControl }, request, async () => ({
    kind: 'stream',
    code: 200,
    contentType: 'a/b',
    run: async (outlet) => {
      diary.push('state');
      outlet.write(Buffer.alloc(0));
      outlet.initialized?.();
      diary.push('changes');
    },
  }));
  expect(diary).toEqual([]);
  if (response.kind === 'stream') await response.run(sink);
  expect(diary).toEqual(['state', 'initialized', 'changes', 'end']);
});

test('a stream whose client reads slowly, or not at all, gives its seats back after a second of waiting', async () => {
  vi.useFakeTimers();
  try {
    const { flowControl, diary } = control();
    const waits = [400, 500, 200, 5000];
    const response = await takeTurn({ flowControl }, request, async () => ({
      kind: 'stream',
      code: 200,
      contentType: 'a/b',
      run: async (outlet) => {
        for (const ms of waits) {
          await outlet.drained();
          diary.push(`${ms}`);
        }
      },
    }));
    let at = 0;
    const sink: ResponseSink = {
      open: () => {},
      write: () => false,
      drained: () => new Promise((resolve) => setTimeout(resolve, waits[at++])),
    };
    const sent = response.kind === 'stream' ? response.run(sink) : undefined;
    await vi.advanceTimersByTimeAsync(999);
    expect(diary).toEqual(['400', '500']);
    await vi.advanceTimersByTimeAsync(1);
    expect(diary).toEqual(['400', '500', 'initialized']);
    await vi.advanceTimersByTimeAsync(5100);
    await sent;
    expect(diary.filter((entry) => entry !== 'initialized')).toEqual(['400', '500', '200', '5000', 'end']);
  } finally {
    vi.useRealTimers();
  }
});

test('a stream that breaks off ends its turn', async () => {
  const { flowControl, diary } = control();
  const response = await takeTurn({ flowControl }, request, async () => ({
    kind: 'stream',
    code: 200,
    contentType: 'a/b',
    run: () => Promise.reject(new Error('gone')),
  }));
  if (response.kind === 'stream') await expect(response.run({} as ResponseSink)).rejects.toThrow('gone');
  expect(diary).toEqual(['end']);
});

test('a tunnel takes no seat', async () => {
  const { flowControl, diary } = control();
  const tunnel: ApiResponse = { kind: 'tunnel', code: 101, run: async () => {} };
  expect(await takeTurn({ flowControl }, request, async () => tunnel)).toBe(tunnel);
  expect(diary).toEqual(['end']);
});

test('a refusal is plain text with a Retry-After', async () => {
  const refused: Turn = { admitted: false, classification, retryAfterSeconds: 4 };
  const flowControl: FlowControl = { begin: () => Promise.resolve(refused) };
  const response = await takeTurn({ flowControl }, request, () =>
    Promise.reject(new Error('not to be called')),
  );
  expect(response).toMatchObject({
    code: 429,
    contentType: 'text/plain; charset=utf-8',
    headers: { 'retry-after': '4' },
  });
  expect(headers).toEqual(HEADERS);
  const text = response.kind === 'bytes' ? Buffer.concat(response.chunks).toString() : '';
  expect(text).toBe('Too many requests, please try again later.\n');
});

test('a request without limits passes unchanged', async () => {
  const flowControl: FlowControl = { begin: () => undefined };
  expect(await takeTurn({ flowControl }, request, async () => ok)).toBe(ok);
  expect(await takeTurn({ flowControl: undefined }, request, async () => ok)).toBe(ok);
});
