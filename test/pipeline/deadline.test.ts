import { expect, test, vi } from 'vitest';
import { withDeadline } from '../../src/pipeline/deadline.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import type { ApiResponse } from '../../src/request/api-response.ts';

const RESPONSE: ApiResponse = { kind: 'bytes', code: 200, contentType: '', chunks: [], compressible: false };

const logged: string[] = [];
const logger = { error: (message: string) => logged.push(message), warn: () => {}, info: () => {} };

/** The part of a request that the stage looks at. */
function toRequest(verb: string, query = '') {
  const end = new AbortController();
  const warnings: string[] = [];
  const request = {
    ...{ method: 'GET', verb, target: undefined, path: '/version', query: new URLSearchParams(query) },
    signal: end.signal,
    expire: () => end.abort(),
    warn: (text: string) => warnings.push(text),
  };
  return { request: request as unknown as ApiRequest, warnings };
}

test('when the time is up the caller gets 504, and what works for the request hears of it', async () => {
  vi.useFakeTimers();
  try {
    const { request, warnings } = toRequest('get');
    const stopped = new Promise<never>((_, reject) => {
      request.signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
    const answered = expect(
      withDeadline({ requestTimeoutMs: 5000, logger }, request, () => stopped),
    ).rejects.toMatchObject({
      status: {
        code: 504,
        reason: 'Timeout',
        message: 'Timeout: request did not complete within the allotted timeout',
      },
    });
    expect(request.deadlineMs).toBe(Date.now() + 5000);
    await vi.advanceTimersByTimeAsync(4999);
    expect(request.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(request.signal.aborted).toBe(true);
    await answered;
    expect(warnings).toEqual([]);
    expect(logged).toEqual(['GET /version: Timeout: request did not complete within the allotted timeout']);
  } finally {
    vi.useRealTimers();
  }
});

test('a write that timed out gets a warning that it may have been done', async () => {
  for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection']) {
    const { request, warnings } = toRequest(verb, 'timeout=1ms');
    await expect(
      withDeadline({ requestTimeoutMs: 60_000, logger }, request, () => new Promise(() => {})),
    ).rejects.toThrow('allotted timeout');
    expect(warnings, verb).toEqual([
      'the time was up while the request was being served: what it asked for may have been done',
    ]);
  }
});

test('a request that is answered in time is never ended, and one that may last has no end', async () => {
  vi.useFakeTimers();
  try {
    const { request } = toRequest('get');
    expect(await withDeadline({ requestTimeoutMs: 5000, logger }, request, async () => RESPONSE)).toBe(
      RESPONSE,
    );
    const { request: watch } = toRequest('watch');
    void withDeadline({ requestTimeoutMs: 5000, logger }, watch, () => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([request.signal.aborted, watch.signal.aborted]).toEqual([false, false]);
  } finally {
    vi.useRealTimers();
  }
});
